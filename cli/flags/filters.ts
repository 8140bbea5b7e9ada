import * as Flags from '@oclif/core/flags';
import { eventNames } from '../../contracts/event-names.ts';
import { usageError } from '../errors/failure.ts';
import { modeFilter, spanFlags } from './flags.ts';
import { idFlag } from './ids.ts';

/** Flags that select events or deliveries. */
export const eventFilters = {
  partner: idFlag('partner')({ description: 'only of this partner' }),
  key: idFlag('apiKey')({ description: 'only of this API key' }),
  mode: modeFilter,
  event: Flags.option({ options: eventNames })({ description: 'only this event' }),
  ...spanFlags,
};

/** A flag for a status or a class of statuses, in lower case. */
const status = Flags.custom<string>({
  helpValue: '4xx|404',
  async parse(text) {
    const lower = text.toLowerCase();
    if (/^[1-5](xx|\d\d)$/.test(lower)) return lower;
    throw usageError(`${text} is neither a status such as 404 nor a class such as 4xx`);
  },
});

const path = Flags.custom<string>({
  helpValue: '/api/oauth',
  async parse(text) {
    if (text.startsWith('/')) return text;
    throw usageError(`${text} is not the beginning of a path such as /api/oauth`);
  },
});

export const requestFilters = {
  partner: idFlag('partner')({ description: 'only of this partner' }),
  client: idFlag('client')({ description: 'only requests of this client' }),
  status: status({ description: 'only answers with this status' }),
  path: path({ description: 'only routes with this prefix' }),
  error: Flags.string({ description: 'only answers with this error code' }),
};
