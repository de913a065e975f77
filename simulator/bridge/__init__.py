"""The model's end of the wire, as a library for writing agents: answers calls, hears, sees, speaks.

Read `call.py` first: it is what an agent gets. agents/README.md is the reference. `process` and
`local` run an agent in a process of its own; `baseline` and `conduct` are the scripted ones' body.
"""
