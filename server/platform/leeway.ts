/** How much the clocks of issuers, wallets and identity providers may differ from ours, in milliseconds. */
export const clockLeewayMs = 60_000;
