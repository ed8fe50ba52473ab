"""The sandbox: run one hostile program, confined, limited and counted."""
