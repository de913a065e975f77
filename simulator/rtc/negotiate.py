"""What we offer, what an answer must hold, and what came of it.

We offer Opus both ways and, from us, the codec that our media is encoded in: H264 (constrained
baseline, packetization mode 1), or VP8 for agents that take nothing else. Counterpart:
`simulator.rtc.peer` places the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiortc import RTCPeerConnection, RTCRtpSender, RTCRtpTransceiver
from aiortc.sdp import MediaDescription, SessionDescription

from simulator.errors import AgentError, InputError, NetworkError
from simulator.protocol.tracks import Track
from simulator.rtc.taps import candidate_pair
from simulator.text import excerpt, well_formed

_PROFILES = ("42e01f", "42001f")
"""H264 profiles that decode what we send, the exact one first."""
_EXCERPT = 200


def prefer_our_codecs(transceiver: RTCRtpTransceiver, video: str) -> None:
    """Order what an offer of `transceiver` lists; our pictures are in the codec `video`."""
    capabilities = RTCRtpSender.getCapabilities(transceiver.kind).codecs
    if transceiver.kind == "audio":
        ours = [c for c in capabilities if c.name.lower() == "opus"]
    elif video == "vp8":
        ours = [c for c in capabilities if c.name.lower() in ("vp8", "rtx")]
    else:
        # VP8 is listed too, so that an agent without H264 can say so by its answer.
        h264 = [c for c in capabilities if c.name == "H264"]
        h264.sort(key=lambda c: _PROFILES.index(str(c.parameters.get("profile-level-id"))))
        ours = h264 + [c for c in capabilities if c.name.lower() in ("vp8", "rtx")]
    transceiver.setCodecPreferences(ours)


def check_candidates(connection: RTCPeerConnection) -> None:
    """Raises NetworkError if this host has no address that a peer could reach."""
    gatherer = connection.getTransceivers()[0].receiver.transport.transport.iceGatherer
    if not gatherer.getLocalCandidates():
        raise NetworkError(
            "this host has no network address but loopback, which WebRTC does not use",
            hint="give it one, e.g. `ip addr add 10.99.0.1/32 dev lo` (as root)",
        )


def check_answer(sdp: str, video: str, *, channels: bool, pictures: int = 1) -> SessionDescription:
    """The answer, parsed. Raises AgentError if it is none, is broken, or takes no sound or none of
    the `channels` that we open; InputError if it does not take all of our `pictures` (0: we offer
    none) in the codec `video`: such an agent has not failed, it is not made for what was to be
    played."""
    try:
        answer = SessionDescription.parse(sdp)
    except (LookupError, ValueError, TypeError, AssertionError, StopIteration) as error:
        why = str(error) or "a line is not as SDP has it"
        raise AgentError(f"the agent's SDP answer cannot be read: {why}") from None
    if not answer.media:
        raise AgentError(f"the agent answered with what is no SDP: {_excerpt(sdp)}")
    audio = _media(answer, "audio")
    if audio is None or audio.direction in ("inactive", "sendonly"):
        raise AgentError("the agent answered without audio: it does not listen")
    if not any(codec.name.lower() == "opus" for codec in audio.rtp.codecs):
        raise AgentError(f"the agent takes no Opus audio, only {_names(audio)}")
    if pictures:
        _check_pictures(answer, video, pictures)
    if channels and _media(answer, "application") is None:
        raise AgentError("the agent answered without a data channel")
    # All share the first one's transport, and without its key no connection comes up.
    first = next(m for m in answer.media if m.port != 0)
    if first.dtls is None or not first.dtls.fingerprints:
        raise AgentError("the agent's SDP answer has no fingerprint to encrypt for")
    return answer


def _check_pictures(answer: SessionDescription, video: str, pictures: int) -> None:
    picture = _media(answer, "video")
    if picture is None or picture.direction in ("inactive", "sendonly"):
        raise InputError(
            "the agent rejected our video: it does not watch",
            hint="play it with --no-video, if it is to be heard alone",
        )
    seen = [m for m in answer.media if m.kind == "video" and m.port != 0]
    if len(seen) < pictures:
        raise InputError(f"the agent takes {len(seen)} of our {pictures} pictures")
    taken = {codec.name.lower() for codec in picture.rtp.codecs}
    if video not in taken:
        raise InputError(
            f"the agent takes no {video.upper()} video, only {_names(picture)}",
            hint="play it with --video vp8" if "vp8" in taken else "",
        )


def put_ours_first(transceiver: RTCRtpTransceiver, video: str) -> None:
    """Send the codec that our media is encoded in, wherever the answer lists it.

    Call it right after `setRemoteDescription`: the sender starts with the first codec.
    """
    want = "opus" if transceiver.kind == "audio" else video
    codecs: list[Any] = list(transceiver._codecs)
    codecs.sort(key=lambda codec: codec.name.lower() != want)
    transceiver._codecs = codecs


def describe(
    connection: RTCPeerConnection, answer: SessionDescription, tracks: Mapping[str, Track]
) -> dict[str, Any]:
    """What was negotiated, for the recording: codec, payload types, clock and SSRCs of each of
    `tracks` (by the `mid` of its section), and the path."""
    pair = candidate_pair(connection)
    return {
        "tracks": {
            tracks[str(transceiver.mid)].id: _describe(transceiver, answer)
            for transceiver in connection.getTransceivers()
        },
        "path": pair and {"local": pair[0], "remote": pair[1]},
    }


def _describe(transceiver: RTCRtpTransceiver, answer: SessionDescription) -> Mapping[str, Any]:
    codec: Any = transceiver._codecs[0]
    sender: Any = transceiver.sender
    resend = next(
        (
            c.payloadType
            for c in transceiver._codecs
            if c.name.lower() == "rtx" and c.parameters.get("apt") == codec.payloadType
        ),
        None,
    )
    media = next((m for m in answer.media if m.rtp.muxId == transceiver.mid), None)
    theirs = [source.ssrc for source in media.ssrc] if media else []
    return {
        "codec": codec.name,
        "payload_type": codec.payloadType,
        "clock": codec.clockRate,
        "parameters": dict(codec.parameters),
        "ssrc": sender._ssrc,
        "rtx_payload_type": resend,
        "rtx_ssrc": sender._rtx_ssrc if resend is not None else None,
        "received_ssrcs": sorted(set(theirs)),
        "direction": transceiver.currentDirection,
    }


def _media(answer: SessionDescription, kind: str) -> MediaDescription | None:
    """The answer's first section of this kind that was not rejected."""
    return next((m for m in answer.media if m.kind == kind and m.port != 0), None)


def _excerpt(body: str) -> str:
    words = excerpt(well_formed(" ".join(body.split())), _EXCERPT)
    return repr(words) if body.strip() else "nothing"


def _names(media: MediaDescription) -> str:
    return (
        ", ".join(sorted({c.name for c in media.rtp.codecs if c.name.lower() != "rtx"})) or "none"
    )
