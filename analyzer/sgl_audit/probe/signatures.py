"""What a log says when a server fails, and which class of failure that is.

Each pattern is a fact about an error text: of SGLang 0.5.9 to 0.5.23 as seen on a CPU, of the
libraries below it, and, where a line says so, from public reports of runs on GPUs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sgl_audit.model.evidence import FailureClass as F


@dataclass(frozen=True, slots=True)
class Signature:
    """A text and the class it proves.

    Attributes:
        anywhere: whether it counts wherever it stands in the log, not only as the last cause.
    """

    failure: F
    pattern: re.Pattern[str]
    anywhere: bool = False


def _of(failure: F, *patterns: str, anywhere: bool = False) -> tuple[Signature, ...]:
    return tuple(Signature(failure, re.compile(text), anywhere) for text in patterns)


SIGNATURES: tuple[Signature, ...] = (
    *_of(
        F.NAN,
        r"probability tensor contains either `?inf`?, `?nan`? or element < 0",
        r"NaN detected!",
        r"Detected errors during sampling! NaN in the logits",
        anywhere=True,
    ),
    # 0.5.9 cannot write a logprob that is no number, and answers 500 instead.
    *_of(F.NAN, r"Out of range float values are not JSON compliant"),
    # From public reports of runs on GPUs.
    *_of(
        F.ILLEGAL_ACCESS,
        r"an illegal memory access was encountered",
        r"CUDA_ERROR_ILLEGAL_ADDRESS|cudaErrorIllegalAddress",
        r"Memory access fault by GPU",
        anywhere=True,
    ),
    # From public reports of runs on GPUs.
    *_of(
        F.OUT_OF_MEMORY,
        r"(?:CUDA|HIP) out of memory",
        r"torch\.(?:cuda\.)?OutOfMemoryError",
        r"CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation",
        r"Not enough memory\. Please try to increase --mem-fraction-static",
        anywhere=True,
    ),
    # From public reports of runs on GPUs.
    *_of(
        F.NO_KERNEL,
        r"No supported CUDA architectures",
        r"does not support backend .* with capability",
        r"no kernel image is available",
        r"(?:ptxas|PTX).*(?:error|fatal|not supported|unsupported)",
        r"CUDA_ERROR_NO_BINARY_FOR_GPU|cudaErrorNoKernelImageForDevice",
        r"(?i)(?:only|requires?) .*\bSM ?_?(?:>=)? ?\d{2,3}",
        r"(?i)\bSM ?_?\d{2,3}[a-z]? ?(?:GPUs? )?only",
        r"(?i)(?:only (?:be )?supported|is only available) (?:on|for|with) "
        r"(?:Hopper|Blackwell|Ampere|Ada|SM)",
        r"(?i)(?:not supported|unsupported|isn't supported) (?:on|for|by) "
        r"(?:this|the current|your) (?:GPU|device|compute capability|arch)",
        r"(?i)unsupported (?:compute capability|gpu architecture|arch)",
        r"(?i)failed to (?:initialize|run) cutlass|cutlass.*Error Internal",
    ),
    *_of(
        F.NO_DEVICE,
        r"Torch not compiled with CUDA enabled",
        r"has no attribute '_cuda_\w+'",
        r"\d+ active drivers \(\[.*\]\)",
        r"Found no NVIDIA driver|No CUDA GPUs are available",
        r"no CUDA-capable device is detected",
    ),
    *_of(
        F.MISSING_PACKAGE,
        r"ModuleNotFoundError: No module named",
        r"PackageNotFoundError",
        r"with minimum required version .* is not installed",
        r"ImportError: .*(?:is not installed|[Pp]lease install|cannot open shared object)",
    ),
    *_of(
        F.NO_MODEL,
        r"Repo id must be in the form",
        r"is not a (?:local folder and is not a )?valid model identifier",
        r"(?:RepositoryNotFoundError|LocalEntryNotFoundError|EntryNotFoundError)",
        r"We couldn't connect to .* to load (?:this|the) ",
        r"does not appear to have a file named",
        r"(?:FileNotFoundError|OSError).*config\.json",
        r"Cannot find any model weights",
        r"Unrecognized model in ",
    ),
    *_of(
        F.PORT_TAKEN,
        r"\[Errno 98\].*address already in use",
        r"(?i)address already in use",
        r"(?i)port \d+ is (?:already in use|not available)",
        anywhere=True,
    ),
)
# argparse ends a wrong command line with this line and exit code 2.
USAGE = re.compile(r"^(?:\S+ )*\S+: error: ")
# SGLang's own announcement that a child process is gone; what stands before it is the cause.
CHILD_GONE = re.compile(
    r"Received sigquit from a child process|SIGQUIT received|kill_process_tree called"
    r"|Subprocess .* crashed|scheduler died"
)
# The line of the arguments repeats what the user wrote.
REPEATED = re.compile(r"\bserver_args=")
# Not a failure: models that cannot be loaded here are left out with a line each.
HARMLESS = re.compile(
    r"\bserver_args=|Ignore import error"
    r"|init failed \(|UserWarning|Warning:|FastAPIDeprecationWarning"
)
