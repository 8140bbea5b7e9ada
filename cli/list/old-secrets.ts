/** Until when a replaced secret is still accepted; null where there is none. */
export const oldSecretUntil = (secrets: readonly { expiresAt: string | null }[]): string | null =>
  secrets
    .flatMap(({ expiresAt }) => expiresAt ?? [])
    .toSorted()
    .at(-1) ?? null;
