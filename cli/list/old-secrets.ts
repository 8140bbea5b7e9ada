/** Returns the time until which a replaced secret is still accepted; null if there is no replaced secret. */
export const oldSecretUntil = (secrets: readonly { expiresAt: string | null }[]): string | null =>
  secrets
    .flatMap(({ expiresAt }) => expiresAt ?? [])
    .toSorted()
    .at(-1) ?? null;
