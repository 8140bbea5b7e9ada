import { parseArgs } from 'node:util';

export interface Options {
  /** A short run that only checks that everything works. */
  smoke: boolean;
  /** Only profiles our server with 64 callers, and keeps the profile. */
  profile: boolean;
  sections: ReadonlySet<Section>;
  rounds: number;
  /** The intended length of a round. */
  seconds: number;
  callers: readonly number[];
  /** Root of another build of ours, to be measured too. */
  beside: string | undefined;
  /** Whether exchanges with an ID token are measured too, for each algorithm. */
  openid: boolean;
  /** Whether the run is complete, so that it can be kept as RESULTS.md. */
  whole: boolean;
}

const sections = [
  'exchange',
  'crowd',
  'userinfo',
  'hot',
  'overload',
  'flows',
  'fairness',
  'webhooks',
  'cli',
  'wallets',
] as const;
export type Section = (typeof sections)[number];

const help = `npm run bench -- [options]

  --smoke            a few requests of each kind: shows that everything works (< 60 s)
  --only LIST        of ${sections.join(',')}; RESULTS.md is left as it is
  --callers LIST     exchange with these numbers of callers (1,16,64,128)
  --rounds N         interleaved rounds, whose medians are shown (3)
  --seconds N        aimed length of a round (2)
  --beside DIR       another checkout of this project, built: measured too, in exchanges, userinfo and flows
  --openid           exchanges with an ID token are measured too, by RS256 and by ES256
  --profile          profile our server under 64 callers, and nothing else
  MONGODB_URI        database server to use in place of the embedded engine
`;

function isSection(name: string): name is Section {
  return (sections as readonly string[]).includes(name);
}

/** @throws for an unknown option; prints help on request and exits */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      smoke: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      only: { type: 'string', default: sections.join(',') },
      callers: { type: 'string', default: '1,16,64,128' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '2' },
      beside: { type: 'string' },
      openid: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    process.exit();
  }
  const wanted = values.only.split(',');
  const unknown = wanted.filter((name) => !isSection(name));
  if (unknown.length > 0) throw new Error(`--only takes ${sections.join(', ')}, not ${unknown.join(', ')}`);
  const { smoke, profile, beside, openid } = values;
  const callers = (smoke ? '1,16' : values.callers).split(',').map(Number);
  return {
    smoke,
    profile,
    sections: new Set(wanted.filter(isSection)),
    rounds: smoke ? 1 : Number(values.rounds),
    seconds: Number(values.seconds),
    callers,
    beside,
    openid,
    whole:
      !beside &&
      !openid &&
      !smoke &&
      !profile &&
      new Set(wanted).size === sections.length &&
      callers.length === 4,
  };
}
