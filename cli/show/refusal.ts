import type { RequestHistory } from '../../contracts/admin/requests.ts';
import { localTime } from '../output/format.ts';

/** Says in sentences which records refused a request for their status, and names the next commands. */
export function explainStatus({ request, inactive }: RequestHistory): { lines: string[]; next: string[] } {
  if (!request || !inactive) return { lines: [], next: [] };
  if (inactive.length === 0) {
    const { clientId, integrationId, keyId, partnerId } = request;
    return {
      lines: ['What refused this request has been mended since: its partner, client and key are active now.'],
      next: [`audit-log list --target ${clientId ?? integrationId ?? keyId ?? partnerId ?? ''}`],
    };
  }
  return {
    lines: inactive.map(({ kind, id, name, status, since }) => {
      const from = since === null ? '' : ` since ${localTime(since)}`;
      return `Refused because the ${kind} ${name} (${id}) is ${status}${from}.`;
    }),
    next: inactive.map(({ next }) => next),
  };
}
