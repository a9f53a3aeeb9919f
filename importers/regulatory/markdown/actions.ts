import type { ActionableItem } from '../record.ts';
import type { Block, HandedDown, Section } from './blocks.ts';
import { type Reading, readSentence } from './sentence-rule.ts';
import { sentencesOf } from './sentences.ts';

const requiredHeading = /\brequired actions?\b/i;
const informative = /^this (?:section|appendix) is informative\.?$/i;

/**
 * The actionable items of a document's sections, in document order (DECISIONS D9.1, data/REGULATORY.md): sentences that
 * say must, shall, required or should; list items below such a sentence that ends in a colon, and list items of a section
 * of required actions, whose imperative needs no such word. In a section that calls itself informative nothing obliges.
 */
export function actionableItemsOf(sections: Section[]): ActionableItem[] {
  let informativeLevel: number | null = null;
  let requiredLevel: number | null = null;
  return sections.flatMap((section) => {
    const { level, heading, blocks } = section;
    if (informativeLevel !== null && level <= informativeLevel) informativeLevel = null;
    if (requiredLevel !== null && level <= requiredLevel) requiredLevel = null;
    if (blocks.some(saysInformative)) informativeLevel ??= level;
    if (requiredHeading.test(heading)) requiredLevel ??= level;
    return itemsOf(section, requiredLevel !== null, informativeLevel !== null);
  });
}

/** Whether a paragraph says it of its section; a list of sections says it of others. */
function saysInformative({ text, isItem }: Block): boolean {
  return !isItem && sentencesOf(text).some((sentence) => informative.test(sentence));
}

function itemsOf(section: Section, isRequired: boolean, isInformative: boolean): ActionableItem[] {
  const items: ActionableItem[] = [];
  const introducing = new Set(section.blocks.map((block) => block.lead));
  for (const block of section.blocks) {
    const sentences = sentencesOf(block.text);
    for (const [index, sentence] of sentences.entries()) {
      const reading = readSentence(sentence);
      // `Agencies must:` says what it asks for only in the list below it.
      const isIntroduction = introducing.has(block) && /\b(?:to|must|shall|should|be|not):$/.test(sentence);
      const inherited = index === 0 && block.isItem ? inheritedForce(block, isRequired) : null;
      const force = reading.force ?? (sentence.endsWith('?') ? null : inherited);
      if (force === null || isIntroduction) continue;
      const { ordinal, path } = section;
      items.push({
        actionId: `A-${String(ordinal).padStart(3, '0')}-${String(items.length + 1).padStart(2, '0')}`,
        text: sentence,
        originText: originOf(block),
        sourceReference: path.join(' > '),
        pageIndex: ordinal,
        obligation: force === 'duty' && !isInformative,
        psc: false,
        specification: reading.specification,
        ...(index === 0 && block.lead !== null ? joined(handedDown(block.lead), reading) : limitsOf(reading)),
      });
    }
  }
  return items;
}

/** What a list item asks for by where it stands: as the nearest introduction that asks for something. */
function inheritedForce(block: Block, isRequired: boolean): Reading['force'] {
  const force = block.lead === null ? null : handedDown(block.lead).force;
  return force ?? (isRequired ? 'duty' : null);
}

/** What an introduction gives to the list below it: its own force, else that of what introduces it; the limits of all of them. */
function handedDown(lead: Block): HandedDown {
  if (lead.below === undefined) {
    const own = readSentence(sentencesOf(lead.text).at(-1)!);
    const above = lead.lead === null ? null : handedDown(lead.lead);
    const limits = above === null ? limitsOf(own) : joined(above, own);
    lead.below = { force: own.force ?? above?.force ?? null, ...limits };
  }
  return lead.below;
}

type Limits = Pick<Reading, 'timingOrTrigger' | 'applicationConditions' | 'exemptConditions'>;

function limitsOf({ timingOrTrigger, applicationConditions, exemptConditions }: Limits): Limits {
  return { timingOrTrigger, applicationConditions, exemptConditions };
}

/** When and for whom something is asked: what stands above says it too. */
function joined(above: Limits, own: Limits): Limits {
  const both = (name: 'applicationConditions' | 'exemptConditions') =>
    [above[name], own[name]].filter((text) => text !== '').join('; ');
  return {
    timingOrTrigger: above.timingOrTrigger || own.timingOrTrigger,
    applicationConditions: both('applicationConditions'),
    exemptConditions: both('exemptConditions'),
  };
}

/** A block with what introduces it. */
function originOf(block: Block): string {
  return block.lead === null ? block.text : `${sentencesOf(block.lead.text).at(-1)} ${block.text}`;
}
