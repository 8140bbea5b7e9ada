import { expect, it } from 'vitest';
import { placeOf } from '../../../server/console/portal/views/find.ts';

it.each([
  ['evt_1', { to: '/deliveries?eventId=evt_1' }],
  ['rev_txn_1', { to: '/wallet/entries/rev_txn_1' }],
  ['A'.repeat(43), { to: `/users?sub=${'A'.repeat(43)}` }],
  ['req-1', { to: '/requests/req-1' }],
  ['../log', { why: 'isNoId' }],
])('the search knows the page of %s: %s', (id, place) => {
  expect(placeOf(id, 'ptr_1')).toEqual(place);
});
