import type { ActionableItem } from '../../src/catalog/guidance/document-schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import type { Block, DocumentSection } from './blocks.ts';
import { type Reading, readSentence, sentencesOf } from './sentences.ts';

/** Characters; far above real documents, it bounds the growth of hostile ones. */
const maxRepeated = 32_000_000;

const requiredHeading = /\brequired actions?\b/i;
const informative = /^this (?:section|appendix) is informative\.?$/i;

type Limits = Pick<Reading, 'timingOrTrigger' | 'applicationConditions' | 'exemptConditions'>;

/** What an introduction and those above it pass to the items below. */
interface Introduction {
  text: string;
  force: Reading['force'];
  limits: Limits;
}

const noIntroduction: Introduction = {
  text: '',
  force: null,
  limits: { timingOrTrigger: false, applicationConditions: '', exemptConditions: '' },
};

/**
 * The actionable items of sections, in document order (rule D9.1, data/REGULATORY.md): sentences with must, shall,
 * required or should, items of a list that such a sentence introduces, and imperatives in sections of required actions.
 * In a section that calls itself informative, nothing is an obligation.
 */
export function actionableItemsOf(sections: DocumentSection[]): ActionableItem[] {
  const count = createCount();
  const introductions = new Map<Block, Introduction>();
  const introductionOf = (lead: Block | null): Introduction => {
    if (lead === null) return noIntroduction;
    const known = introductions.get(lead);
    if (known !== undefined) return known;
    const above = introductionOf(lead.lead);
    const sentence = sentencesOf(lead.text).at(-1)!;
    const reading = readSentence(sentence);
    const text = joinTexts(' ', above.text, sentence);
    const limits = joinLimits(above.limits, reading);
    count(text, limits.applicationConditions, limits.exemptConditions);
    const introduction = { text, force: reading.force ?? above.force, limits };
    introductions.set(lead, introduction);
    return introduction;
  };
  let informativeLevel = Number.POSITIVE_INFINITY;
  let requiredLevel = Number.POSITIVE_INFINITY;
  return sections.flatMap((section) => {
    const { ordinal, level, heading, path, blocks } = section;
    if (level <= informativeLevel)
      informativeLevel = blocks.some(saysInformative) ? level : Number.POSITIVE_INFINITY;
    if (level <= requiredLevel)
      requiredLevel = requiredHeading.test(heading) ? level : Number.POSITIVE_INFINITY;
    const isRequired = level >= requiredLevel;
    const isInformative = level >= informativeLevel;
    const items: ActionableItem[] = [];
    const introducing = new Set(blocks.map((block) => block.lead));
    for (const block of blocks) {
      if (block.kind === 'cell') continue;
      const above = introductionOf(block.lead);
      const originText = joinTexts(' ', above.text, block.text);
      for (const [index, sentence] of sentencesOf(block.text).entries()) {
        const reading = readSentence(sentence);
        // A list item has the force of the nearest introduction with one.
        const inheritsForce = index === 0 && block.kind === 'item' && !sentence.endsWith('?');
        const force = reading.force ?? (inheritsForce ? (above.force ?? (isRequired ? 'duty' : null)) : null);
        // `Agencies must:` asks for nothing without the list below it.
        const isIntroduction = introducing.has(block) && /\b(?:to|must|shall|should|be|not):$/.test(sentence);
        if (force === null || isIntroduction) continue;
        const limits = joinLimits(index === 0 ? above.limits : noIntroduction.limits, reading);
        const sourceReference = path.join(' > ');
        count(originText, sourceReference, limits.applicationConditions, limits.exemptConditions);
        items.push({
          actionId: `A-${String(ordinal).padStart(3, '0')}-${String(items.length + 1).padStart(2, '0')}`,
          text: sentence,
          originText,
          sourceReference,
          pageIndex: ordinal,
          obligation: force === 'duty' && !isInformative,
          psc: false,
          specification: reading.specification,
          ...limits,
        });
      }
    }
    return items;
  });
}

/** Items repeat their paragraph, headings and introductions: limits the sum. */
function createCount() {
  let left = maxRepeated;
  return (...texts: string[]): void => {
    for (const text of texts) left -= text.length;
    if (left < 0)
      throw new ImportError(
        `the actionable items repeat more than ${maxRepeated} characters of paragraphs, headings and introductions`,
        'regdoc-markdown',
      );
  };
}

/** Only a paragraph describes its own section; a list of sections describes others. */
function saysInformative({ text, kind }: Block): boolean {
  return kind === 'paragraph' && sentencesOf(text).some((sentence) => informative.test(sentence));
}

function joinLimits(above: Limits, own: Limits): Limits {
  return {
    timingOrTrigger: above.timingOrTrigger || own.timingOrTrigger,
    applicationConditions: joinTexts('; ', above.applicationConditions, own.applicationConditions),
    exemptConditions: joinTexts('; ', above.exemptConditions, own.exemptConditions),
  };
}

const joinTexts = (separator: string, ...texts: string[]) =>
  texts.filter((text) => text !== '').join(separator);
