/** A response: status, some headers, and the start of the body as it was received. */
export interface Answer {
  status: number;
  encoding?: string | undefined;
  location?: string | undefined;
  retryAfter?: string | undefined;
  date?: string | undefined;
  body: Buffer;
}

/** The most bytes of headers that a response may have: names, values and reason, without what separates them. */
const longestHeaders = 64 * 1024;
/** A line may be longer than its name and value, because the spaces around a value do not count. */
const longestLine = 2 * longestHeaders;
/** The most bytes before a body. Without this bound, a receiver could keep the process busy with informational responses. */
const mostBeforeBody = 4 * 1024 * 1024;
/** The most bytes of a body that are read. */
const longestBody = 16 * 1024;

/** What has arrived is no HTTP response, or its headers are too long. */
export class MalformedAnswer extends Error {}
const notHttp = 'the answer is not HTTP';
const tooManyInterim = `the answer has ${mostBeforeBody / 1024 / 1024} MiB of informational responses`;
const headersTooLong = `the headers of the answer are larger than ${longestHeaders / 1024} KiB`;

const protocol = 'HTTP/';
/** A status line. The reason and the minor version may be missing, and spaces may be repeated. */
const statusLine = /^HTTP\/(?<version>\d(?:\.\d)?) +(?<status>[1-9]\d\d)(?<reason> .*)?$/i;
/** A header whose name is a token (RFC 9110, section 5.6.2). */
const headerLine = /^(?<name>[\w!#$%&'*+.^`|~-]+):(?<value>.*)$/s;
const chunkLine = /^(?<size>[\da-f]{1,8})[\t ]*(?:;.*)?$/i;
const readHeaders = new Set([
  ...['connection', 'content-encoding', 'content-length', 'date', 'keep-alive', 'location'],
  ...['retry-after', 'transfer-encoding'],
]);
const lineFeed = 0x0a;
/** Another protocol follows this status, so it is final although it is below 200. */
const switchingProtocols = 101;

/** What the next bytes belong to. */
type Part = 'status' | 'headers' | 'data' | 'chunk size' | 'chunk end' | 'trailers' | 'nothing';

/**
 * Reads a response from the bytes of a connection. Only its status decides about an event, so the reader accepts what other
 * clients refuse. A line of the head that is no header is ignored.
 */
export class AnswerReader {
  /** Whether any byte has arrived. */
  hasBegun = false;
  /** Whether the status is known, and the headers are complete. */
  hasHead = false;
  /** How many bytes have arrived until the headers were complete. */
  #beforeBody = 0;
  #part: Part = 'status';
  /** What has arrived of the present line. */
  #line = '';
  /** The bytes of the present head, or of what separates the chunks of the body. */
  #counted = 0;
  #status = 0;
  readonly #headers = new Map<string, string[]>();
  /** The values of the header in the line before, which a folded line continues. Undefined if this header is not read. */
  #lastValues: string[] | undefined;
  #isChunked = false;
  /** How many bytes are missing of the body, or of its present chunk. */
  #missing = 0;
  readonly #body: Buffer[] = [];
  #bodyLength = 0;
  /** Whether all of the response is as RFC 9112 says, and ends where it says. Otherwise more of it may follow. */
  #isExact = true;

  /** Whether the response is complete, or as much of it as is read. */
  get isDone(): boolean {
    return this.#part === 'nothing';
  }

  /**
   * Takes the next bytes.
   * @throws MalformedAnswer before the headers are complete
   */
  take(piece: Buffer): void {
    this.hasBegun = true;
    if (!this.hasHead) this.#beforeBody += piece.length;
    if (this.#beforeBody > mostBeforeBody) throw new MalformedAnswer(tooManyInterim);
    let rest = piece;
    while (rest.length > 0 && !this.isDone)
      rest = rest.subarray(this.#part === 'data' ? this.#takeData(rest) : this.#takeLine(rest));
    if (rest.length > 0) this.#isExact = false;
  }

  /** The response. Its status is 0 if none has arrived. */
  answer(): Answer {
    return {
      status: this.#status,
      encoding: this.#single('content-encoding'),
      location: this.#single('location'),
      retryAfter: this.#single('retry-after'),
      date: this.#single('date'),
      body: Buffer.concat(this.#body).subarray(0, longestBody),
    };
  }

  /**
   * For how many milliseconds the connection may wait for its next request, at most `most`. 0 if it must be closed, because what
   * still arrives of this response could be taken for the next one.
   */
  reusableFor(most: number): number {
    if (!this.isDone || !this.#isExact) return 0;
    const timeout = /\btimeout=(?<seconds>\d+)/i.exec(this.#list('keep-alive'))?.groups?.['seconds'];
    // The receiver closes it after this time. A second is left for the way of the next request.
    return timeout === undefined ? most : Math.max(0, Math.min(most, (Number(timeout) - 1) * 1000));
  }

  /** @returns how many bytes were taken */
  #takeData(piece: Buffer): number {
    const data = piece.subarray(0, this.#missing);
    this.#body.push(data);
    this.#bodyLength += data.length;
    this.#missing -= data.length;
    if (this.#missing === 0) this.#part = this.#isChunked ? 'chunk end' : 'nothing';
    if (this.#bodyLength >= longestBody && !this.isDone) this.#stop();
    return data.length;
  }

  /** @returns how many bytes were taken */
  #takeLine(piece: Buffer): number {
    const end = piece.indexOf(lineFeed);
    const isBegin = this.#line.length < protocol.length;
    this.#line += piece.toString('latin1', 0, end === -1 ? piece.length : end);
    if (end === -1) {
      if (this.#part === 'status' && isBegin) this.#checkProtocol();
      if (this.#line.length > longestLine) this.#count(this.#line.length);
      return piece.length;
    }
    const line = this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line;
    this.#line = '';
    if (this.#part === 'status') this.#takeStatus(line);
    else if (this.#part === 'headers' && line === '') this.#endHead();
    else if (this.#part === 'headers') this.#takeHeader(line);
    else this.#takeChunkLine(line);
    return end + 1;
  }

  /** Refuses another protocol by its first bytes, because its first line may never end. */
  #checkProtocol(): void {
    const begin = this.#line.slice(0, protocol.length).toUpperCase();
    if (begin !== '\r' && !protocol.startsWith(begin)) throw new MalformedAnswer(notHttp);
  }

  #takeStatus(line: string): void {
    // Empty lines before the status are ignored (RFC 9112, section 2.2).
    if (line === '') {
      this.#count(1);
      return;
    }
    const { version, status, reason = '' } = statusLine.exec(line)?.groups ?? {};
    if (status === undefined) throw new MalformedAnswer(notHttp);
    this.#isExact &&= version === '1.1';
    this.#status = Number(status);
    this.#part = 'headers';
    this.#count(reason.trim().length);
  }

  #takeHeader(line: string): void {
    const { name, value = line } = headerLine.exec(line)?.groups ?? {};
    const key = name?.toLowerCase() ?? '';
    const text = value.trim();
    this.#count(Math.max(1, key.length + text.length));
    if (name === undefined) this.#isExact = false;
    // A line that begins with a space continues the header before it (RFC 9112, section 5.2).
    if (line.startsWith(' ') || line.startsWith('\t')) {
      this.#lastValues?.push(`${this.#lastValues.pop()} ${text}`);
      return;
    }
    this.#lastValues = readHeaders.has(key) ? (this.#headers.get(key) ?? []) : undefined;
    this.#lastValues?.push(text);
    if (this.#lastValues) this.#headers.set(key, this.#lastValues);
  }

  #endHead(): void {
    this.#counted = 0;
    const isInterim = this.#status < 200 && this.#status !== switchingProtocols;
    if (isInterim) {
      this.#headers.clear();
      this.#part = 'status';
    } else {
      this.hasHead = true;
      this.#beginBody();
    }
  }

  /** Finds where the body ends (RFC 9112, section 6.3). */
  #beginBody(): void {
    const coding = this.#list('transfer-encoding').toLowerCase();
    const [length = '', ...others] = this.#list('content-length')
      .split(',')
      .map((text) => text.trim());
    const hasTwoEnds = (coding !== '' && length !== '') || others.length > 0;
    if (hasTwoEnds || /\bclose\b/i.test(this.#list('connection'))) this.#isExact = false;
    if (this.#status === switchingProtocols) this.#stop();
    else if (this.#status === 204 || this.#status === 304) {
      // Some receivers send the body that they announce.
      if (coding !== '' || !/^0*$/.test(length)) this.#isExact = false;
      this.#part = 'nothing';
    } else if (/\bchunked$/.test(coding)) {
      this.#isExact &&= coding === 'chunked';
      this.#isChunked = true;
      this.#part = 'chunk size';
    } else if (coding !== '' || length === '') {
      // The body ends with the connection.
      this.#missing = Number.POSITIVE_INFINITY;
      this.#part = 'data';
    } else if (!/^\d{1,15}$/.test(length) || others.some((other) => other !== length)) {
      this.#stop();
    } else {
      this.#missing = Number(length);
      this.#part = this.#missing === 0 ? 'nothing' : 'data';
    }
  }

  #takeChunkLine(line: string): void {
    const part = this.#part;
    if (part === 'chunk end') this.#part = 'chunk size';
    if (part === 'trailers' && line === '') this.#part = 'nothing';
    if (part === 'chunk size') {
      this.#missing = Number.parseInt(chunkLine.exec(line)?.groups?.['size'] ?? '', 16);
      this.#part = this.#missing === 0 ? 'trailers' : 'data';
    }
    if (Number.isNaN(this.#missing) || (part === 'chunk end' && line !== '')) this.#stop();
    this.#count(Math.max(1, line.length));
  }

  #count(bytes: number): void {
    this.#counted += bytes;
    if (this.#counted <= longestHeaders) return;
    if (!this.hasHead) throw new MalformedAnswer(headersTooLong);
    this.#stop();
  }

  /** Reads no more of a body whose end is unknown. */
  #stop(): void {
    this.#isExact = false;
    this.#part = 'nothing';
  }

  #list(name: string): string {
    return this.#headers.get(name)?.join(', ').trim() ?? '';
  }

  /** The value of a header that must not be repeated. Undefined if it is. */
  #single(name: string): string | undefined {
    const [value, ...others] = this.#headers.get(name) ?? [];
    return others.length === 0 ? value?.trim() : undefined;
  }
}
