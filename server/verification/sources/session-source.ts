import type { ClaimName } from '../../../contracts/claims.ts';
import type { BrowserContext } from '../browser/session-access.ts';
import { remaining } from '../session/methods.ts';
import type { Session } from '../session/session.ts';
import { claimsAskedFor } from '../session/steps.ts';
import type { Method, SourceSession, VerificationSource } from './source.ts';

export type SourceOf = (session: Session) => VerificationSource;

/** Finds the source of a session. @throws if this installation no longer has it */
export function createSourceOf(sources: ReadonlyMap<string, VerificationSource>): SourceOf {
  return function sourceOf(session) {
    const source = sources.get(session.source);
    if (!source) throw new Error(`session ${session._id} needs the verification source ${session.source}`);
    return source;
  };
}

/** A method in the list that the user chooses from. */
export interface OfferedMethod {
  name: string;
  method: Method;
  /** Whether the method is out of order at present. */
  isDown: boolean;
}

/** The methods that the user of a session may choose, in the client's order. Those that are out of order come last. */
export type OfferedTo = (session: Session, now: number) => OfferedMethod[];

export function createOfferedTo(sources: ReadonlyMap<string, VerificationSource>): OfferedTo {
  return function offeredTo({ methods }, now) {
    const offered = (methods ? remaining(methods) : []).flatMap((name) => {
      const source = sources.get(name);
      return source ? [{ name, method: source.method, isDown: source.isDown(now) }] : [];
    });
    // Sorting keeps the order of methods that are equally available.
    return offered.sort((one, other) => Number(one.isDown) - Number(other.isDown));
  };
}

/** The data that a session asks its sources for. */
export interface Asked {
  /** The requested claims that some of them can answer. */
  answered: ClaimName[];
  /** Whether one of them asks for a personal number. */
  asksNumber: boolean;
}

export type AskedOf = (session: Session) => Asked;

/** Looks at all methods that can still be chosen, or at the source that was chosen. */
export function createAskedOf(sources: ReadonlyMap<string, VerificationSource>): AskedOf {
  return function askedOf(session) {
    const { source, methods } = session;
    const names = methods && !methods.chosen ? remaining(methods) : [source];
    const asked = names.flatMap((name) => sources.get(name) ?? []);
    const claims = claimsAskedFor(session);
    return {
      answered: claims.filter((claim) => asked.some(({ answers }) => answers([claim]).length > 0)),
      asksNumber: asked.some(({ asksNumber }) => asksNumber),
    };
  };
}

/** The part of a session that its source sees. @param chosen the language that the user chose on our pages */
export function sourceSession(session: Session, chosen?: BrowserContext['language']): SourceSession {
  const { _id: id, partnerId, mode, carried, language } = session;
  return { id, partnerId, mode, carried, claims: claimsAskedFor(session), language: chosen ?? language };
}
