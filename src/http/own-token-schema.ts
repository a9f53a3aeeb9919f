import { z } from '@hono/zod-openapi';
import { longestOwnToken } from '../auth/own-tokens.ts';
import { lifetimeOf } from '../base/lifetime.ts';
import { isVisibleLine } from '../base/text.ts';
import { notAnObject, requestText } from './schema.ts';

const Id = z.uuid();

/** A token that a user made for a script (rule D43.6). */
export const OwnToken = z
  .strictObject({ id: Id, name: z.string(), createdAt: z.iso.datetime(), expiresAt: z.iso.datetime() })
  .openapi('OwnToken');

export const OwnTokens = z.strictObject({ tokens: z.array(OwnToken) }).openapi('OwnTokens');

export const NewOwnToken = z
  .strictObject({
    ...OwnToken.shape,
    token: z.string().openapi({ description: 'The token. It is shown only once.' }),
  })
  .openapi('NewOwnToken');

export const newOwnTokenBody = z
  .object(
    {
      name: requestText('name', 100)
        .refine(isVisibleLine, 'name must be one line, with a character that can be seen')
        .openapi({ description: 'What it is for.' }),
      ttl: z
        .string({ error: 'ttl is required and must be a text' })
        .refine((text) => {
          const seconds = lifetimeOf(text);
          return seconds !== null && seconds >= 1 && seconds <= longestOwnToken;
        }, 'ttl must be a number with s, m, h or d, from 1s to 30d')
        .openapi({ description: 'How long it is valid, as `8h` or `30d`; at most 30 days.', example: '8h' }),
    },
    notAnObject,
  )
  .openapi('OwnTokenRequest');

export const ownTokenParams = z.object({ id: z.string().openapi({ description: 'The id of a token.' }) });
