#!/bin/sh
# A launch as it stands in a repository of yours.
export NCCL_DEBUG=WARN
python -m sglang.launch_server \
  --model-path models/nvfp4_moe_hybrid \
  --tp 4
