import type { SessionView } from '../../contracts/admin/sessions.ts';
import { formatValue, localTime } from '../output/format.ts';

/** Returns the fields of a session that `sessionLines` does not show. */
export function sessionFields(session: SessionView) {
  const { timeline: _timeline, code: _code, failure: _failure, ...fields } = session;
  return fields;
}

/** Returns lines about a session: why there is no code or what happened to it, then the events in order. */
export function sessionLines({ timeline, code, failure }: SessionView): string[] {
  const why = failure
    ? [
        `No code: ${failure.reason} at ${localTime(failure.at)}: ${failure.text}`,
        `         ${failure.retryable ? 'the user may try again' : 'trying again will not help'}`,
      ]
    : [];
  return [
    ...why,
    ...(code ? [`Code: ${formatValue('code', code)}`] : []),
    ...timeline.map(({ at, event, note }) => `  ${localTime(at)}  ${event}${note ? `: ${note}` : ''}`),
  ];
}
