import { Flags } from '@oclif/core';
import { eventNames } from '../../contracts/event-names.ts';
import { modeFilter, moment } from './flags.ts';

/** Which events or deliveries a command is about. */
export const eventFilters = {
  partner: Flags.string({ description: 'only of this partner' }),
  key: Flags.string({ description: 'only of this API key' }),
  mode: modeFilter,
  event: Flags.option({ options: eventNames })({ description: 'only this event' }),
  since: moment({ description: 'only since this time' }),
  until: moment({ description: 'only before this time' }),
};
