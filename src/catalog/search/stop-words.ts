const english =
  'a about after all an and any are as at be been before being between both but by can could did do does for from had ' +
  'has have how i if in into is it its may me more must my no not of off on once only or our out over own same shall ' +
  'she he should so some such than that the their them then there these they this those through to too under until up ' +
  'very was we were what when where which while who whom why will with would you your';
const ofTheField =
  'ensure system systems operating configured configure implement use used using enable enabled provide required ' +
  'require requirement requirements';

/** The words that carry nothing in a question (rule D35.1): small words of English, and those of nearly every rule. */
export const stopWords: ReadonlySet<string> = new Set(`${english} ${ofTheField}`.split(' '));
