"""The edge: what stands between the network and the handlers, and keeps abuse out."""
