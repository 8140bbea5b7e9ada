import { request } from 'node:http';
import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerReader, MalformedAnswer } from '../../../server/webhooks/egress/answer-reader.ts';

/** Reads a response that arrives in pieces. */
function read(...pieces: (string | Buffer)[]) {
  const reader = new AnswerReader();
  for (const piece of pieces) reader.take(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
  const { body, ...head } = reader.answer();
  const { isDone, hasHead } = reader;
  return { ...head, body: body.toString('latin1'), isDone, hasHead, reusable: reader.reusableFor(4_000) };
}

/** The same response in pieces that end at these positions. */
function split(bytes: Buffer, ends: readonly number[]): Buffer[] {
  const positions = [0, ...ends.map((end) => end % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return positions.slice(1).map((end, n) => bytes.subarray(positions[n], end));
}

const ok = 'HTTP/1.1 200 OK\r\n';

describe('the status of a response', () => {
  it.each([
    [200, `${ok}\r\n`],
    [204, 'HTTP/1.1 204\n\n'],
    [200, 'HTTP/2 200\r\n\r\n'],
    [200, `\r\n\n${ok}\r\n`],
    [404, 'HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 103 Hints\n\nhttp/1.0  404 Not Found\r\nX\n\n'],
    [101, `HTTP/1.1 101 Switching Protocols\r\n\r\n${ok}\r\n`],
    [999, 'HTTP/1.1 999 Odd\r\n\r\n'],
  ])('is %s in %j', (status, bytes) => {
    expect(read(bytes)).toMatchObject({ status, hasHead: true });
  });

  it.each(['', 'HTTP/1.1 200 OK', ok, `${ok}X: y\r\n`, 'HTTP/1.1 100 Continue\r\nX: y\r\n\r\n', '\r', 'htt'])(
    'is not known yet in %j',
    (bytes) => {
      expect(read(bytes)).toMatchObject({ hasHead: false, isDone: false, reusable: 0 });
    },
  );

  it.each([
    'HTTP/1.1 2000 OK\r\n',
    'HTTP/1.1 020 OK\r\n',
    'HTTP/1.1 200OK\r\n',
    'HTTP/1.1 200 O\rK\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n200\r\n',
    '220 smtp.example ESMTP',
    ' HTTP/1.1 200 OK',
    '\0',
  ])('is refused as not HTTP in %j', (bytes) => {
    expect(() => read(bytes)).toThrow(new MalformedAnswer('the answer is not HTTP'));
  });
});

describe('the bounds of a response', () => {
  const tooLong = new MalformedAnswer('the headers of the answer are larger than 64 KiB');
  const many = (text: string, bytes = 64 * 1024) => text.repeat(Math.ceil(bytes / text.length) + 1);

  it.each([
    ['one header', `${ok}X: ${many('x')}\r\n`],
    ['a header that does not end', `${ok}X: ${many('x', 128 * 1024)}`],
    ['many headers', many('X-Any: y\r\n', 128 * 1024)],
    ['lines that are no headers', many('\t\r\n', 256 * 1024)],
    ['a reason', `HTTP/1.1 200 ${many('x')}\r\n`],
    ['a reason that does not end', `HTTP/1.1 200 ${many('x', 128 * 1024)}`],
    ['empty lines before the status', many('\n')],
  ])('refuse more than 64 KiB of headers: %s', (_what, bytes) => {
    const head = bytes.startsWith('HTTP') || bytes.startsWith('\n') ? bytes : ok + bytes;
    expect(() => read(head)).toThrow(tooLong);
  });

  it('count each informational response alone', () => {
    const interim = `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(60_000)}\r\n\r\n`;
    expect(read(interim, interim, `${ok}X: ${'x'.repeat(60_000)}\r\n\r\n`)).toMatchObject({ status: 200 });
  });

  it('end a body after 16 KiB', () => {
    for (const head of ['', 'Content-Length: 20000\r\n', 'Transfer-Encoding: chunked\r\n']) {
      const chunk = head.startsWith('T') ? '4e20\r\n' : '';
      const { body, isDone, reusable } = read(`${ok}${head}\r\n${chunk}${'x'.repeat(16 * 1024 + 1)}`);
      expect([body.length, isDone, reusable]).toEqual([16 * 1024, true, 0]);
    }
  });

  it('end a body of chunks after 16 KiB, also if each piece has whole chunks only', () => {
    const chunk = `1000\r\n${'x'.repeat(4096)}\r\n`;
    const { body, isDone, reusable } = read(
      `${ok}Transfer-Encoding: chunked\r\n\r\n`,
      ...Array(4).fill(chunk),
    );
    expect([body.length, isDone, reusable]).toEqual([16 * 1024, true, 0]);
  });

  it('let thousands of equal Date headers take less than 20 times as long as headers that are not read', () => {
    const timeOf = (line: string) => {
      const started = performance.now();
      read(`${ok}${line.repeat(16_000)}\n`);
      return performance.now() - started;
    };
    timeOf('date:\n');
    expect(timeOf('date:\n')).toBeLessThan(20 * timeOf('data:\n'));
  });

  it('end an answer with more than 4 MiB of informational responses', () => {
    const reader = new AnswerReader();
    const interim = Buffer.from('HTTP/1.1 103 Hints\r\n\r\n'.repeat(4_000));
    const few = Math.floor((4 * 1024 * 1024) / interim.length);
    for (let n = 0; n < few; n += 1) reader.take(interim);
    expect(() => reader.take(interim)).toThrow('the answer has 4 MiB of informational responses');
  });

  it.each([
    ['chunk extensions', many(';x', 128 * 1024)],
    ['trailers', `0\r\n${many('X: y\r\n', 128 * 1024)}`],
  ])('end a body with endless %s', (_what, text) => {
    expect(read(`${ok}Transfer-Encoding: chunked\r\n\r\n`, text)).toMatchObject({
      status: 200,
      isDone: true,
    });
  });
});

describe('the body of a response', () => {
  it.each([
    ['the first of equal lengths', 'Content-Length: 2\r\nContent-Length: 2\r\n\r\nok', 'ok'],
    ['a length that is listed twice', 'Content-Length: 2 , 2\r\n\r\nok', 'ok'],
    [
      'chunks of more than nine bytes',
      `Transfer-Encoding: chunked\r\n\r\n1A\r\n${'x'.repeat(26)}\r\n0\r\n\r\n`,
      'x'.repeat(26),
    ],
    [
      'chunks before a length',
      'Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      'ok',
    ],
  ])('ends with %s', (_what, rest, body) => {
    expect(read(ok + rest)).toMatchObject({ body, isDone: true });
  });

  it.each(['2\r\nContent-Length: 3', '2, 3', '3, 2', 'two', '-1', '1e3', '9999999999999999'])(
    'is not read if its length is %j',
    (length) => {
      expect(read(`${ok}Content-Length: ${length}\r\n\r\nok`)).toMatchObject({ body: '', isDone: true });
    },
  );
});

describe('a connection', () => {
  it.each([
    ['a body of the announced length', 'Content-Length: 2\r\n\r\nok', 4_000],
    ['a body in chunks', 'Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n', 4_000],
    ['an empty body', 'Content-Length: 0\r\n\r\n', 4_000],
    ['a longer time of its own', 'Keep-Alive: timeout=60, max=9\r\nContent-Length: 0\r\n\r\n', 4_000],
    ['a shorter time of its own', 'Keep-Alive: max=9, timeout=3\r\nContent-Length: 0\r\n\r\n', 2_000],
    ['a time that is too short', 'Keep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n', 0],
    ['Connection: close', 'Connection: Upgrade, Close\r\nContent-Length: 0\r\n\r\n', 0],
    ['no length', '\r\nok', 0],
    ['an incomplete body', 'Content-Length: 3\r\n\r\nok', 0],
    ['bytes after its body', 'Content-Length: 2\r\n\r\nok\n', 0],
    ['the same length twice', 'Content-Length: 2\r\nContent-Length: 2\r\n\r\nok', 0],
    ['a length that is no number', 'Content-Length: two\r\n\r\nok', 0],
    ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', 0],
    ['another coding and chunks', 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 0],
    ['a malformed chunk', 'Transfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n', 0],
    ['a folded header', 'X: a\r\n b\r\nContent-Length: 0\r\n\r\n', 0],
    ['a space before a colon', 'Content-Length : 2\r\nContent-Length: 0\r\n\r\n', 0],
  ])('waits for the next request for the time that fits a response with %s', (_what, rest, ms) => {
    expect(read(ok + rest).reusable).toBe(ms);
  });

  it.each([
    ['HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n', 0],
    ['HTTP/1.1 204 No Content\r\n\r\n', 4_000],
    ['HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\n', 0],
    ['HTTP/1.1 204 No Content\r\nContent-Length: two\r\n\r\n', 0],
    ['HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n', 4_000],
    ['HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n', 0],
    ['HTTP/1.1 101 Switching Protocols\r\nContent-Length: 0\r\n\r\n', 0],
    [`HTTP/1.1 100 Continue\r\n\r\n${ok}Content-Length: 0\r\n\r\n`, 4_000],
  ])('waits for the next request, or is closed, after %j', (bytes, ms) => {
    expect(read(bytes)).toMatchObject({ isDone: true, reusable: ms });
  });
});

it('a header of the final response that is not repeated has a value', () => {
  const head = `${ok}Location: /a\r\nRetry-After:  5 \r\nLOCATION: /b\r\nDate: now\r\nContent-Encoding:\tbr\r\n\r\n`;
  expect(read(head)).toMatchObject({ location: undefined, retryAfter: '5', date: 'now', encoding: 'br' });
  const interim = 'HTTP/1.1 103 Early Hints\r\nLocation: /hint\r\n\r\n';
  expect(read(`${interim}${ok}Location: /final\r\n\r\n`)).toMatchObject({ location: '/final' });
});

it('a folded header has the value of all its lines', () => {
  const head = 'Location: /a\r\n b: c\r\n\td\r\nX: y\r\n z\r\nRetry-After:\r\n 9\r\n';
  const body = 'Transfer-Encoding:\r\n chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';
  const answer = { location: '/a b: c d', retryAfter: '9', body: 'ok', isDone: true, reusable: 0 };
  expect(read(ok + head + body)).toMatchObject(answer);
});

it('a folded line continues only the header that is just before it', () => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nLocation: /hint\r\n\r\n';
  const head = '\ta\r\nRetry-After: 5\r\nno header\r\n b\r\nDate: now\r\nX: y\r\n c\r\n\r\n';
  expect(read(interim + ok + head)).toMatchObject({ location: undefined, retryAfter: '5', date: 'now' });
});

const text = fc.string({ unit: fc.constantFrom('a', 'B', '7', ' ', '-', '\u00e9', ';', ':'), maxLength: 20 });
const response = fc
  .record({
    interim: fc.nat(2),
    status: fc.integer({ min: 200, max: 599 }),
    headers: fc.dictionary(fc.constantFrom('Location', 'Retry-After', 'Date', 'X-Any', 'content-type'), text),
    framing: fc.constantFrom('length', 'chunked', 'end'),
    chunks: fc.array(
      fc.string({ unit: fc.constantFrom('x', '\n', '0', '\r'), minLength: 1, maxLength: 40, size: 'max' }),
    ),
  })
  .map(({ interim, status, headers, framing, chunks }) => {
    const isEmpty = status === 204 || status === 304;
    const body = isEmpty ? '' : chunks.join('');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    if (framing === 'length' && !isEmpty) lines.push(`Content-Length: ${body.length}`);
    if (framing === 'chunked' && !isEmpty) lines.push('Transfer-Encoding: chunked');
    const inChunks = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
    const sent = framing === 'chunked' && !isEmpty ? `${inChunks}0\r\n\r\n` : body;
    const head = `HTTP/1.1 ${status} Some reason\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
    const bytes = Buffer.from(
      `${'HTTP/1.1 103 Hints\r\nLink: a\r\n\r\n'.repeat(interim)}${head}${sent}`,
      'latin1',
    );
    return { bytes, hasEnd: isEmpty || framing !== 'end' };
  });

/** What the client of Node.js reads from these bytes. */
async function readByNode(bytes: Buffer) {
  const connection = new Duplex({
    read() {
      this.push(bytes);
      this.push(null);
    },
    write: (_piece, _encoding, done) => done(),
  });
  return new Promise<unknown>((resolve, reject) => {
    const outgoing = request({ createConnection: () => connection }, (incoming) => {
      const pieces: Buffer[] = [];
      incoming.on('data', (piece: Buffer) => pieces.push(piece));
      incoming.on('end', () => {
        const { location, date } = incoming.headers;
        const retryAfter = incoming.headers['retry-after'];
        const body = Buffer.concat(pieces).toString('latin1');
        resolve({ status: incoming.statusCode, location, retryAfter, date, body });
      });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

it('a valid response is read as by Node.js, in whatever pieces it arrives', async () => {
  await fc.assert(
    fc.asyncProperty(response, fc.array(fc.nat()), async ({ bytes, hasEnd }, ends) => {
      const { isDone, hasHead, reusable, encoding: _, ...answer } = read(...split(bytes, ends));
      expect(answer).toEqual(await readByNode(bytes));
      expect([hasHead, isDone, reusable > 0]).toEqual([true, hasEnd, hasEnd]);
    }),
    { numRuns: 80 },
  );
});

it('any bytes after a status line are read alike in whatever pieces they arrive', () => {
  const pieces = [
    ...['\r\n', '\n', '\r', ' ', ':', ',', ';', '0', '2', 'a', 'Content-Length', 'Transfer-Encoding'],
    ...['chunked', 'Connection', 'close', '\r\n\r\n', 'HTTP/1.1 200 OK', 'HTTP/1.1 100 C'],
  ];
  const outcome = (parts: Buffer[]) => {
    try {
      return read(...parts);
    } catch (error) {
      return String(error);
    }
  };
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...pieces), { maxLength: 30 }),
      fc.array(fc.nat()),
      (parts, ends) => {
        const bytes = Buffer.from(ok + parts.join(''), 'latin1');
        expect(outcome(split(bytes, ends))).toEqual(outcome([bytes]));
      },
    ),
    { numRuns: 300 },
  );
});
