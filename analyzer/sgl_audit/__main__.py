"""`python -m sgl_audit`."""

from sgl_audit.cli import main

if __name__ == "__main__":
    main(program="python -m sgl_audit")
