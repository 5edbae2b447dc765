"""The gate between any MCP client and any MCP server: a proxy that speaks both eras on either side, and the contract.

Messages travel as the plain objects of the wire, so that what the SDK's models do not know passes untouched. The SDK
is imported only in this room.
"""
