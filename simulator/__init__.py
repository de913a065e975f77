"""Omnistage: plays scenarios to omni-modal assistants in real time, and measures what comes back.

Data flow, one package a stage (each reads only what the stages before wrote):
scenario -> media -> session over rtc with an agent -> recording -> trace -> judging -> report.
"""

__version__ = "0.1.0"
