import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminApi } from '../connection/client.ts';
import { usageError } from '../errors/failure.ts';
import { escapeControls, printable, printableJson } from '../output/format.ts';

type Relayed = Awaited<ReturnType<AdminApi['webhooks']['relay']['query']>>;
type Delivery = Relayed['deliveries'][number];

/** The time between two polls of the server, in milliseconds. */
const pollEveryMs = 1_000;
/** The time that the local receiver has to answer, in milliseconds. The server gives a receiver the same time. */
const timeoutMs = 10_000;

interface Relay {
  api: AdminApi;
  keyId: string;
  /** The URL of the local receiver. */
  target: string;
  isJson: boolean;
  /** Called with a sentence for the person. */
  notice: (text: string) => void;
  /** Called with the error of a request to the server. The request is repeated when it resolves, unless it throws. */
  onError: (error: unknown) => Promise<void>;
}

/** @throws CommandError if the text is not an http or https URL with a host */
export function requireTarget(target: string): void {
  if (!URL.canParse(target) || !/^https?:\/\/[^/]/i.test(target))
    throw usageError(`${target} is not an address such as http://localhost:4000/hooks`);
}

/** Relays the events of a test key to this machine, with valid signatures, until the reader of stdout closes the pipe. */
export async function relayEvents({ api, keyId, target, isJson, notice, onError }: Relay): Promise<void> {
  /** Reads relayed deliveries from the server. Tries again until `onError` throws. */
  async function readWithRetry(input: Parameters<typeof api.webhooks.relay.query>[0]): Promise<Relayed> {
    for (;;) {
      try {
        return await api.webhooks.relay.query(input);
      } catch (error) {
        await onError(error);
      }
    }
  }

  /** Prints a relayed delivery and how the receiver answered: as one line of JSON, or as a line with the reasons of a refusal. */
  function printDelivery({ eventId, event }: Delivery, { answer, reply }: Outcome): void {
    const line = isJson
      ? printableJson({ eventId, event, answer, reply })
      : printable(`${eventId}  ${event}  ${answer}`);
    process.stdout.write(`${line}\n`);
    if (isJson) return;
    for (const sentence of explainRefusal(answer, reply)) notice(`  ${sentence}`);
  }

  /** The server may return a delivery twice, because the periods of two calls overlap. */
  const relayedIds = new Set<string>();

  /** Relays the deliveries since a time. @returns the time from which the next call reads */
  async function relaySince(since: string): Promise<string> {
    let page = await readWithRetry({ keyId, since });
    // Deliveries that are added while later pages are read are found by the next call.
    const { until } = page;
    for (;;) {
      const newDeliveries = page.deliveries.filter(({ deliveryId }) => !relayedIds.has(deliveryId));
      for (const delivery of newDeliveries) {
        relayedIds.add(delivery.deliveryId);
        printDelivery(delivery, await sendToReceiver(target, delivery));
      }
      if (page.after === null || isReaderGone()) return until;
      page = await readWithRetry({ keyId, since, after: page.after });
    }
  }

  // Without a time, the server returns no deliveries, but its present time and the signing secret.
  const { until: startedAt, signing } = await readWithRetry({ keyId });
  let since = startedAt;
  notice(`Relaying events of ${keyId} to ${target}; Ctrl-C ends.`);
  if (signing) notice(`Signed with ${signing.secret} (version ${signing.version} of its signing secret)`);
  while (!isReaderGone()) {
    since = await relaySince(since);
    await sleep(pollEveryMs);
  }
}

/** Whether a write has failed, because the reader of a pipe has closed it. More deliveries would be relayed unseen. */
const isReaderGone = (): boolean => process.stdout.errored !== null;

interface Outcome {
  /** The HTTP status, or the reason why there is none. */
  answer: number | string;
  /** The beginning of the body of a refusal. */
  reply?: string | undefined;
}

const mostReplyCharacters = 300;

/** Sends a delivery to the local receiver, with the headers and the body that the server would send. */
async function sendToReceiver(target: string, { headers, body }: Delivery): Promise<Outcome> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(target, { method: 'POST', headers, body, signal, redirect: 'manual' });
    const reply = response.ok ? '' : (await response.text()).trim().slice(0, mostReplyCharacters);
    return { answer: response.status, reply: reply || undefined };
  } catch (error) {
    // The cause names the reason. The message of `fetch` itself is only "fetch failed".
    const { cause, message } = error as Error;
    return { answer: cause instanceof Error ? cause.message : message };
  }
}

/** Returns lines that explain a refused delivery: what the receiver answered, and what to check. Empty if it was accepted. */
function explainRefusal(answer: number | string, reply: string | undefined): string[] {
  if (typeof answer === 'string') return ['→ Nothing answered: does the receiver listen at this address?'];
  if (answer >= 200 && answer < 300) return [];
  const lines: string[] = [];
  if (reply !== undefined) lines.push(`It says: ${escapeControls(reply)}`);
  const advice = adviceByStatus.find(({ statuses }) => statuses.test(String(answer)))?.advice;
  if (advice !== undefined) lines.push(`→ ${advice}`);
  return lines;
}

/** Advice on the statuses with which a local receiver refuses a delivery. */
const adviceByStatus = [
  {
    statuses: /^40[013]$/,
    advice:
      'If it refuses the signature: it must use the secret above, over the raw body. `svcadmin webhooks verify` finds the difference.',
  },
  {
    statuses: /^40[45]$/,
    advice: 'Is this the path and method of the receiver? Events are POSTed to --forward-to.',
  },
  { statuses: /^3/, advice: 'Redirects are not followed: give the final address.' },
  {
    statuses: /^5/,
    advice: 'The receiver failed: its own log says why. At a URL, the event would be sent again.',
  },
];
