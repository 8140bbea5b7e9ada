/** The output and the clock of the indicator. */
interface Indicator {
  write: (text: string) => void;
  /** Calls `tick` every second until the returned function is called. */
  everySecond: (tick: () => void) => () => void;
}

export type ShowWaiting = <V>(work: Promise<V>) => Promise<V>;

const clearLine = '\r\u001b[K';

/** Makes an indicator: a line that is shown while a call takes longer than a second, until the last call ends. */
export function createWaiting({ write, everySecond }: Indicator): ShowWaiting {
  let underWay = 0;
  let seconds = 0;
  let stop: () => void = () => undefined;

  const tick = (): void => {
    seconds += 1;
    write(`${clearLine}Waiting for the server … ${seconds} s`);
  };

  function begin(): void {
    underWay += 1;
    if (underWay === 1) stop = everySecond(tick);
  }

  function end(): void {
    underWay -= 1;
    if (underWay > 0) return;
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
