/**
 * Returns the time until which a replaced secret is still accepted; null if there is no replaced secret.
 * @param secrets may include the current secret, whose `expiresAt` is null
 */
export function oldSecretUntil(secrets: readonly { expiresAt: string | null }[]): string | null {
  const expiryTimes = secrets.map(({ expiresAt }) => expiresAt).filter((time) => time !== null);
  return expiryTimes.toSorted().at(-1) ?? null;
}
