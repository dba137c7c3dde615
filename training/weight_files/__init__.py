"""Weight files of any training: .npz, .safetensors, checkpoints of PyTorch, and maps from their tensors to weights."""
