import type { SessionView } from '../../contracts/admin/sessions.ts';
import { formatValue, localTime } from '../output/format.ts';

/** Returns the fields of a session that `renderSession` does not show. */
export function fieldsBesideTimeline(session: SessionView) {
  const { timeline: _timeline, code: _code, failure: _failure, ...fields } = session;
  return fields;
}

/** Returns lines about a session: why it has no code, or what happened to its code, then the events in order. */
export function renderSession({ timeline, code, failure }: SessionView): string[] {
  const failureLines = failure
    ? [
        `No code: ${failure.reason} at ${localTime(failure.at)}: ${failure.text}`,
        `         ${failure.retryable ? 'the user may try again' : 'trying again will not help'}`,
      ]
    : [];
  return [
    ...failureLines,
    ...(code ? [`Code: ${formatValue('code', code)}`] : []),
    ...timeline.map(({ at, event, note }) => `  ${localTime(at)}  ${event}${note ? `: ${note}` : ''}`),
  ];
}
