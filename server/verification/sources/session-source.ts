import type { BrowserContext } from '../browser/session-access.ts';
import { claimsAskedFor } from '../session/steps.ts';
import type { Session } from '../session/transitions.ts';
import type { SourceSession, VerificationSource } from './source.ts';

export type SourceOf = (session: Session) => VerificationSource;

/** Finds the source of a session. @throws where this installation no longer has it */
export function createSourceOf(sources: ReadonlyMap<string, VerificationSource>): SourceOf {
  return function sourceOf(session) {
    const source = sources.get(session.source);
    if (!source) throw new Error(`session ${session._id} needs the verification source ${session.source}`);
    return source;
  };
}

/** A session as its source sees it. @param chosen the language that the person chose on our pages */
export function sourceSession(session: Session, chosen?: BrowserContext['language']): SourceSession {
  const { _id: id, partnerId, mode, carried, language } = session;
  return { id, partnerId, mode, carried, claims: claimsAskedFor(session), language: chosen ?? language };
}
