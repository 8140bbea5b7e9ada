import { z } from 'zod';
import { displayText } from './display-text.ts';

export const sourceNamePattern = /^[a-z0-9][a-z0-9-]{0,63}$/;
export const SourceName = z
  .string()
  .regex(sourceNamePattern, { error: 'expected lower case letters, digits and dashes' });

/** The label of a verification source that users see, for example `EU age verification app`. */
export const SourceLabel = displayText(60);

/** Makes the schema of a list of sources, which must not share a name. */
export const sourceList = <S extends z.ZodType<{ name: string }>>(source: S) =>
  z.array(source).superRefine((sources, context) => {
    const names = new Set<string>();
    for (const { name } of sources) {
      if (names.has(name)) context.addIssue({ code: 'custom', message: `${name} is there twice` });
      names.add(name);
    }
  });
