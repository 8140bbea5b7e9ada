import { Client } from 'undici';

export interface Answer {
  status: number;
  location: string | undefined;
  cookies: readonly string[];
  body: string;
}

export interface Sent {
  method: 'GET' | 'POST';
  path: string;
  /** Names and values in turn. */
  headers: readonly string[];
  body?: string;
}

const timeout = 30_000;
const listOf = (header: string | string[] | undefined): string[] =>
  typeof header === 'string' ? [header] : (header ?? []);

/** One connection that stays open, with one request at a time. */
export function connectTo(origin: string) {
  const client = new Client(origin, { pipelining: 1, headersTimeout: timeout, bodyTimeout: timeout });
  return {
    send({ headers, ...request }: Sent): Promise<Answer> {
      return new Promise((resolve, reject) => {
        const chunks: Buffer[] = [];
        const answer: Answer = { status: 0, location: undefined, cookies: [], body: '' };
        client.dispatch(
          { ...request, headers: [...headers] },
          {
            onRequestStart: () => undefined,
            onResponseStart: (_controller, status, received) => {
              answer.status = status;
              [answer.location] = listOf(received['location']);
              answer.cookies = listOf(received['set-cookie']);
            },
            onResponseData: (_controller, chunk) => {
              chunks.push(chunk);
            },
            onResponseEnd: () => resolve({ ...answer, body: Buffer.concat(chunks).toString() }),
            onResponseError: (_controller, error) => reject(error),
          },
        );
      });
    },
    close: () => client.close(),
  };
}
export type Connection = ReturnType<typeof connectTo>;
