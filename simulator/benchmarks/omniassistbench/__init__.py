"""OmniAssistBench as its users know it: its release in, its answers in and out.

`release` reads its rows, `texts` what is written in them, `hearing` finds where a question ends,
`importing` writes scenarios, `names` maps its names to ours, `answers` reads and writes the
`video_name,output_text` files. No footage comes with Omnistage: it is not ours to pass on.
"""
