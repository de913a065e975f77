"""Record `media/commit.mp4`: a folder put under version control with git, in a terminal."""

from pathlib import Path

from screen import Stage, record

LENGTH = 70.0
TERMINAL = (40, 50, 1190, 600)
REST = (1255, 690)


def prepare(stage: Stage) -> None:
    (stage.home / ".gitconfig").write_text(
        "[user]\nname = Ana\nemail = ana@example.org\n[init]\ndefaultBranch = main\n")
    stage.env["PS1"] = r"\W $ "
    stage.start("xterm", "-fa", "DejaVu Sans Mono", "-fs", "20", "-geometry", "70x18+40+30",
                "-bg", "#fdfdf5", "-fg", "#101010", "-T", "Terminal", "-e", "bash", "--norc")
    stage.window("Terminal")
    stage.settle()
    stage.hand.jump(*REST)


def perform(stage: Stage) -> None:
    def enter(when: float, command: str, event: str = "") -> None:
        stage.at(when)
        stage.hand.type(command, 0.09)
        stage.hand.type("\n", 0.3)
        if event:
            stage.event(event, TERMINAL)

    enter(1.2, "mkdir garden")  # 1
    enter(3.4, "cd garden", "folder")
    enter(6.2, "echo beans > beds.txt", "beds")  # 3, before 2
    enter(15.0, "git init", "repository")  # 2
    enter(20.5, "ls")
    enter(28.0, "echo plum > trees.txt", "trees")  # 4
    enter(32.0, "git add beds.txt trees.txt", "staged")  # 5
    enter(36.6, "git status -s", "status")
    enter(43.0, "git rm -q --cached *.txt", "unstaged")  # 5 undone
    enter(47.5, "git status -s", "status again")
    enter(56.5, "git add .", "staged again")  # 5
    enter(60.0, "git commit -m 'First plan'", "committed")  # 6


if __name__ == "__main__":
    record(Path(__file__).parents[1], "commit", LENGTH, prepare, perform)
