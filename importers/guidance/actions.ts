import type { ActionableItem } from '../../src/catalog/guidance/document-schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import type { Block, DocumentSection, HandedDown } from './blocks.ts';
import { type Reading, readSentence, sentencesOf } from './sentences.ts';

/** Characters; far above real documents, it bounds the growth of hostile ones. */
const maxRepeated = 32_000_000;

const requiredHeading = /\brequired actions?\b/i;
const informative = /^this (?:section|appendix) is informative\.?$/i;

/**
 * The actionable items of sections, in document order (rule D9.1, data/REGULATORY.md): sentences with must, shall,
 * required or should, items of a list that such a sentence introduces, and imperatives in sections of required actions.
 * In a section that calls itself informative, nothing is an obligation.
 */
export function actionableItemsOf(sections: DocumentSection[]): ActionableItem[] {
  const count = createCount();
  let informativeLevel: number | null = null;
  let requiredLevel: number | null = null;
  return sections.flatMap((section) => {
    const { level, heading, blocks } = section;
    if (informativeLevel !== null && level <= informativeLevel) informativeLevel = null;
    if (requiredLevel !== null && level <= requiredLevel) requiredLevel = null;
    if (blocks.some(saysInformative)) informativeLevel ??= level;
    if (requiredHeading.test(heading)) requiredLevel ??= level;
    return itemsOf(section, requiredLevel !== null, informativeLevel !== null, count);
  });
}

type Count = ReturnType<typeof createCount>;

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

function itemsOf(
  section: DocumentSection,
  isRequired: boolean,
  isInformative: boolean,
  count: Count,
): ActionableItem[] {
  const items: ActionableItem[] = [];
  const introducing = new Set(section.blocks.map((block) => block.lead));
  for (const block of section.blocks) {
    if (block.kind === 'cell') continue;
    const above = block.lead === null ? null : handedDown(block.lead, count);
    const sentences = sentencesOf(block.text);
    for (const [index, sentence] of sentences.entries()) {
      const reading = readSentence(sentence);
      // `Agencies must:` asks for nothing without the list below it.
      const isIntroduction = introducing.has(block) && /\b(?:to|must|shall|should|be|not):$/.test(sentence);
      // A list item has the force of the nearest introduction with one.
      const inherited =
        index === 0 && block.kind === 'item'
          ? (above?.force ?? (isRequired ? ('duty' as const) : null))
          : null;
      const force = reading.force ?? (sentence.endsWith('?') ? null : inherited);
      if (force === null || isIntroduction) continue;
      const { ordinal, path } = section;
      const item = {
        actionId: `A-${String(ordinal).padStart(3, '0')}-${String(items.length + 1).padStart(2, '0')}`,
        text: sentence,
        originText: above === null ? block.text : `${above.introduction} ${block.text}`,
        sourceReference: path.join(' > '),
        pageIndex: ordinal,
        obligation: force === 'duty' && !isInformative,
        psc: false,
        specification: reading.specification,
        ...(index === 0 && above !== null ? joined(above, reading) : limitsOf(reading)),
      };
      count(item.originText, item.sourceReference, item.applicationConditions, item.exemptConditions);
      items.push(item);
    }
  }
  return items;
}

function handedDown(lead: Block, count: Count): HandedDown {
  if (lead.below === undefined) {
    const sentence = sentencesOf(lead.text).at(-1)!;
    const own = readSentence(sentence);
    const above = lead.lead === null ? null : handedDown(lead.lead, count);
    const introduction = above === null ? sentence : `${above.introduction} ${sentence}`;
    const limits = above === null ? limitsOf(own) : joined(above, own);
    lead.below = { introduction, force: own.force ?? above?.force ?? null, ...limits };
    count(introduction, limits.applicationConditions, limits.exemptConditions);
  }
  return lead.below;
}

type Limits = Pick<Reading, 'timingOrTrigger' | 'applicationConditions' | 'exemptConditions'>;

function limitsOf({ timingOrTrigger, applicationConditions, exemptConditions }: Limits): Limits {
  return { timingOrTrigger, applicationConditions, exemptConditions };
}

function joined(above: Limits, own: Limits): Limits {
  const both = (name: 'applicationConditions' | 'exemptConditions') =>
    [above[name], own[name]].filter((text) => text !== '').join('; ');
  return {
    timingOrTrigger: above.timingOrTrigger || own.timingOrTrigger,
    applicationConditions: both('applicationConditions'),
    exemptConditions: both('exemptConditions'),
  };
}
