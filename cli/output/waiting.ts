/** The output and the clock of the indicator. */
interface Indicator {
  write: (text: string) => void;
  /** Calls `tick` every second until the returned function is called. */
  everySecond: (tick: () => void) => () => void;
}

export type ShowWaiting = <V>(work: Promise<V>) => Promise<V>;

const clearLine = '\r\u001b[K';

/** Makes an indicator. While calls take longer than a second, it shows a line with the seconds, until the last call ends. */
export function createWaiting({ write, everySecond }: Indicator): ShowWaiting {
  let pendingCalls = 0;
  let seconds = 0;
  let stop: () => void = () => undefined;

  const tick = (): void => {
    seconds += 1;
    write(`${clearLine}Waiting for the server … ${seconds} s`);
  };

  function begin(): void {
    pendingCalls += 1;
    if (pendingCalls === 1) stop = everySecond(tick);
  }

  function end(): void {
    pendingCalls -= 1;
    if (pendingCalls > 0) return;
    stop();
    if (seconds > 0) write(clearLine);
    seconds = 0;
  }

  return async (work) => {
    begin();
    try {
      return await work;
    } finally {
      end();
    }
  };
}

/** Makes the indicator for a stream. It shows nothing if the stream is not a terminal. */
export function waitingOn(stream: NodeJS.WriteStream): ShowWaiting {
  if (!stream.isTTY || process.env['TERM'] === 'dumb') return (work) => work;
  return createWaiting({
    write: (text) => void stream.write(text),
    everySecond(tick) {
      const timer = setInterval(tick, 1_000);
      return () => clearInterval(timer);
    },
  });
}
