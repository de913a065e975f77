"""`python -m simulator` is the same as `omnistage`."""

from simulator.cli.main import main

main()
