// Sentences that tests of many files compare with, in one place: another wording is another line here.

export const noToken = 'Missing or invalid Authorization header';
export const noSession = 'Missing or expired session: sign in with POST /api/v1/session and send its cookie';
export const noUserToken = 'You need a user token';
export const noControls = 'the catalog has no controls';
export const noStig = (name: string) => `STIG not found: ${name}`;
export const noVersion = (version: string) => `Version not found: ${version}`;
export const noControl = (id: string) => `Control not found: ${id}`;
export const noFormat = (...formats: string[]) => `Invalid format. Must be one of: ${formats.join(', ')}`;
