"""The Ledger page."""
