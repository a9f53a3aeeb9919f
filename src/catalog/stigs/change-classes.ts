/** The classes of a change; the first that applies is the primary one. Imports read these without the API's schemas. */
export const changeClasses = ['check', 'fix', 'severity', 'mapping', 'cosmetic'] as const;
