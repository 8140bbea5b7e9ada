import type { Collection } from 'mongodb';
import type { Session } from './session.ts';

/** The numbers of users that a source has authenticated, and of its failures. */
export interface SourceUse {
  authenticated: number;
  failed: number;
}

/** Only the newest sessions are counted, which is enough for a ratio. */
const mostSessions = 20_000;
const projection = {
  source: 1,
  consentedAt: 1,
  authenticatedAt: 1,
  failure: 1,
  'methods.failed': 1,
} as const;
type Counted = Pick<Session, '_id' | 'source' | 'consentedAt' | 'authenticatedAt' | 'failure' | 'methods'>;

/**
 * Returns the ended methods of a session, with their results. If the session fails after the consent, that is a failure
 * of its last method. Before the consent, no method was tried.
 */
function endsOf({ source, consentedAt, authenticatedAt, failure, methods }: Counted) {
  const failed = (methods?.failed ?? []).map((ended) => ({ source: ended.source, end: 'failed' as const }));
  if (authenticatedAt) return [...failed, { source, end: 'authenticated' as const }];
  return failure && consentedAt ? [...failed, { source, end: 'failed' as const }] : failed;
}

/** Counts how the newest 20,000 sessions since a time have ended, by source. */
export async function readSourceUse(
  sessions: Collection<Session>,
  since: Date,
): Promise<Map<string, SourceUse>> {
  const newest = sessions
    .find<Counted>({ createdAt: { $gte: since } }, { projection })
    .sort({ createdAt: -1, _id: -1 })
    .limit(mostSessions);
  const uses = new Map<string, SourceUse>();
  for await (const session of newest) {
    for (const { source, end } of endsOf(session)) {
      const use = uses.get(source) ?? { authenticated: 0, failed: 0 };
      use[end] += 1;
      uses.set(source, use);
    }
  }
  return uses;
}
