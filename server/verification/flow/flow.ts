import type { KnownForms } from '../../platform/database/schema.ts';
import { ApiError, unavailable } from '../../platform/errors.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Visit, Visits } from '../browser/session-access.ts';
import { isOpen, linkAndCode } from '../handoff/handoff.ts';
import type { Snapshot } from '../people/claims-snapshot.ts';
import type { Enrolling } from '../people/enroll.ts';
import type { Outbox } from '../session/outbox.ts';
import { isLive, type Stage, stageOf } from '../session/steps.ts';
import type { Handoff, Session } from '../session/transitions.ts';
import type { Attempts } from '../sources/authorization-request.ts';
import { type SourceOf, sourceSession } from '../sources/session-source.ts';
import type { Beginning } from '../sources/source.ts';
import type { Authentication } from './authenticate.ts';
import type { Completion } from './complete.ts';
import { createProviderReturn } from './provider-return.ts';
import { createSubmit, type Submitted } from './submit.ts';
import type { Verify } from './verify.ts';

/** What the browser gets to see: the page of the stage it is at, or the way back to the partner. */
export type View =
  | { kind: 'consent'; session: Session }
  | { kind: 'begin'; session: Session; beginning: Beginning }
  /** Link and code for the phone; neither once they have run out. */
  | { kind: 'handoff'; session: Session; shown: { token: string; code: string } | undefined }
  /** At the computer, while the phone goes on. */
  | { kind: 'waiting'; session: Session; handoff: Handoff }
  /** At the phone: is this your computer? */
  | { kind: 'confirm'; session: Session; handoff: Handoff }
  /** At the phone, when there is nothing left to do there. */
  | { kind: 'phone-over'; session: Session; well: boolean }
  /** `gently`: by a page, because the browser comes from a site whose forms may not lead on to the partner's. */
  | { kind: 'leave'; session: Session; url: string; gently: boolean };

/** The computer's cookie was rotated by the phone: the browser has to come back with the new one. */
export interface Renewal {
  kind: 'renew';
  session: Session;
  secret: string;
}

/** A session after the automatic steps. */
interface Advanced {
  session: Session;
  stage: Stage;
  /** Another redirect, because the redirect URI is no longer registered. */
  detour: string | undefined;
  /** Whether this request has issued the code. */
  isNew: boolean;
}

interface Dependencies {
  visits: Visits;
  authentication: Authentication;
  attempts: Attempts;
  sourceOf: SourceOf;
  enrolling: Pick<Enrolling, 'known'>;
  verify: Verify;
  completion: Completion;
  outbox: Outbox;
  keyring: Pick<Keyring, 'id'>;
  forms: KnownForms;
  clock: { now(): number };
}

const triesAgainstOthers = 5;

/** The hosted flow: consent → authenticate → verify → redirect, at one or two devices. */
export function createFlow(dependencies: Dependencies) {
  const { visits, authentication, attempts, sourceOf, verify, completion, outbox, keyring, clock } =
    dependencies;
  const { move } = authentication;
  const submit = createSubmit(dependencies);
  const comeBack = createProviderReturn(dependencies);

  /** `issue` at the computer, `verify` at both devices: steps that need no input, so a reload resumes them after a crash. */
  function isAutomatic({ handoff }: Session, stage: Stage, device: Visit['device']): boolean {
    if (device === 'phone') return stage === 'verify';
    return (stage === 'verify' || stage === 'issue') && handoff?.state !== 'taken';
  }

  /** One automatic step. */
  async function step(
    session: Session,
    stage: Stage,
  ): Promise<{ moved: Session | undefined; snapshot?: Snapshot }> {
    if (stage === 'verify') return { moved: await move(session, await verify(session, sourceOf(session))) };
    const { transition, ...read } = await completion.issueCode(session);
    return { moved: await move(session, transition), ...read };
  }

  /** Takes the automatic steps of a session that was just read or moved. */
  async function advance(read: Session, visit: Visit): Promise<Advanced> {
    let session = read;
    let snapshot: Snapshot | undefined;
    let isNew = false;
    for (let tries = 0; tries < triesAgainstOthers; tries += 1) {
      const stage = stageOf(session, clock.now());
      const detour = visit.device === 'computer' ? await completion.detour(session, stage) : undefined;
      if (detour !== undefined || !isAutomatic(session, stage, visit.device)) {
        // Before the code is sent: the partner may then ask for what the user has consented to.
        if (stage === 'completed' && (isNew || session.enrollmentDueAt))
          await outbox.finish(session, snapshot);
        return { session, stage, detour, isNew };
      }
      const taken = await step(session, stage);
      isNew = taken.moved?.code !== undefined;
      snapshot = taken.moved && taken.snapshot;
      session = taken.moved ?? (await visits.read(visit));
    }
    throw unavailable(new Error(`session ${session._id} keeps changing`));
  }

  /** The session of this browser after the automatic steps, or the new cookie that it has to come back with. */
  async function open(visit: Visit): Promise<Advanced | Renewal> {
    const session = await visits.read(visit);
    const latest = visits.outdated(session, visit);
    if (latest !== undefined) return { kind: 'renew', session, secret: latest };
    return advance(session, visit);
  }

  async function show(visit: Visit): Promise<View | Renewal> {
    const found = await open(visit);
    return 'kind' in found ? found : render(found, visit);
  }

  const render = (advanced: Advanced, visit: Visit): Promise<View> =>
    visit.device === 'phone' ? atPhone(advanced, visit) : atComputer(advanced, visit);

  async function atComputer({ session, stage, detour, isNew }: Advanced, visit: Visit): Promise<View> {
    const gently = sourceOf(session).finish !== undefined;
    if (detour !== undefined) return { kind: 'leave', session, url: detour, gently };
    const { handoff } = session;
    if (handoff?.state === 'taken' && isLive(stage)) return { kind: 'waiting', session, handoff };
    switch (stage) {
      case 'consent':
        return { kind: 'consent', session };
      case 'authenticate':
        return handoff?.state === 'offered' ? offer(session, handoff) : begin(session, visit);
      case 'confirm':
      case 'verify':
      case 'issue':
        throw new Error(`session ${session._id} has no page for the step ${stage}`);
      case 'completed':
      case 'failed':
      case 'expired':
      case 'over':
        return { kind: 'leave', session, url: await completion.redirect(session, { stage, isNew }), gently };
    }
  }

  async function atPhone({ session, stage }: Advanced, visit: Visit): Promise<View> {
    const { handoff } = session;
    if (!handoff) throw new ApiError('unauthorized');
    switch (stage) {
      case 'consent':
      case 'authenticate':
        return begin(session, visit);
      case 'confirm':
        return { kind: 'confirm', session, handoff };
      case 'verify':
        throw new Error(`session ${session._id} has no page for the step verify`);
      case 'issue':
      case 'completed':
        return { kind: 'phone-over', session, well: true };
      case 'failed':
      case 'over':
        return { kind: 'phone-over', session, well: false };
      case 'expired':
        throw new ApiError('session_not_found');
    }
  }

  async function begin(session: Session, { device, secret = '', language }: Visit): Promise<View> {
    const attempt = attempts.begin({ sessionId: session._id, device, secret });
    return {
      kind: 'begin',
      session,
      beginning: await sourceOf(session).begin(sourceSession(session, language), attempt),
    };
  }

  function offer(session: Session, handoff: Handoff): View {
    const shown = isOpen(handoff, clock.now()) ? linkAndCode(keyring.id, session._id, handoff) : undefined;
    return { kind: 'handoff', session, shown };
  }

  /** The way out of a session, after a form; undefined where a page of ours comes next. */
  async function leaving({ session: moved, secret }: Submitted, visit: Visit): Promise<View | undefined> {
    const entered = { ...visit, secret };
    const session = moved ?? (await visits.read(entered));
    if (visits.outdated(session, entered) !== undefined) return undefined;
    const advanced = await advance(session, entered);
    const isOver = advanced.detour !== undefined || !isLive(advanced.stage);
    return visit.device === 'computer' && isOver ? atComputer(advanced, entered) : undefined;
  }

  return { show, submit, leaving, comeBack };
}
