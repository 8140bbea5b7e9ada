import type { DifferingSetting } from '../../../contracts/admin/status.ts';
import { claimNames } from '../../../contracts/claims.ts';
import type { Config } from '../config/config.ts';
import { defaultClaimLifetimeMs } from '../config/source-config.ts';

/** Values of the settings that all processes on one database must share, by variable. None of them is a secret. */
export type SharedSettings = Readonly<Record<string, string>>;

const hour = 3_600_000;

/** A lifetime as SVC_CLAIM_FRESHNESS has it. */
const lifetimeText = (ms: number) => (ms % (24 * hour) === 0 ? `${ms / (24 * hour)}d` : `${ms / hour}h`);

/** The lifetimes of claims in one form, so that only values with different effects differ. */
function freshnessText({
  default: standard = defaultClaimLifetimeMs,
  ...lifetimes
}: Config['claimLifetimes']) {
  const others = claimNames.flatMap((name) => {
    const lifetime = lifetimes[name] ?? standard;
    return lifetime === standard ? [] : [`${name}=${lifetimeText(lifetime)}`];
  });
  return [lifetimeText(standard), ...others].join(',');
}

/**
 * The settings that change prices, tokens or the deletion of claims. Each process acts by its own, so a partner would be
 * served differently from request to request. All operators see the values, so a secret must not be among them.
 */
export const sharedSettingsOf = (config: Config): SharedSettings => ({
  SVC_ENVIRONMENT: config.environment,
  SVC_BASE_URL: config.baseUrl,
  SVC_PRICE_CENTS: String(config.priceCents),
  SVC_CLAIM_FRESHNESS: freshnessText(config.claimLifetimes),
});

/** Compares what processes report. Older builds do not report all settings, and are compared only by those that they do. */
export function compareSettings(
  processes: readonly { _id: string; sharedSettings?: SharedSettings | undefined }[],
): DifferingSetting[] {
  const settings = new Map<string, Map<string, string[]>>();
  for (const { _id, sharedSettings = {} } of processes) {
    for (const [setting, value] of Object.entries(sharedSettings)) {
      const byValue = settings.get(setting) ?? new Map<string, string[]>();
      byValue.set(value, [...(byValue.get(value) ?? []), _id]);
      settings.set(setting, byValue);
    }
  }
  return [...settings]
    .filter(([, byValue]) => byValue.size > 1)
    .map(([setting, byValue]) => ({
      setting,
      values: [...byValue].map(([value, ids]) => ({ value, processes: ids })),
    }));
}
