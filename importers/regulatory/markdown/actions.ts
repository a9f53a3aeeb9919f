import type { ActionableItem } from '../record.ts';
import type { Block, Section } from './blocks.ts';
import { type Reading, readSentence } from './sentence-rule.ts';
import { sentencesOf } from './sentences.ts';

const requiredHeading = /\brequired actions?\b/i;
const informative = /^this section is informative\.?$/i;

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
    if (blocks.some((block) => informative.test(block.text))) informativeLevel ??= level;
    if (requiredHeading.test(heading)) requiredLevel ??= level;
    return itemsOf(section, requiredLevel !== null, informativeLevel !== null);
  });
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
        timingOrTrigger: reading.timingOrTrigger,
        applicationConditions: reading.applicationConditions,
        exemptConditions: reading.exemptConditions,
      });
    }
  }
  return items;
}

/** What a list item asks for by where it stands: as the nearest introduction that asks for something. */
function inheritedForce(block: Block, isRequired: boolean): Reading['force'] {
  const force = block.lead === null ? null : forceBelow(block.lead);
  return force ?? (isRequired ? 'duty' : null);
}

/** The force that an introduction gives to the list below it: its own, else that of what introduces it. */
function forceBelow(lead: Block): Reading['force'] {
  if (lead.forceBelow === undefined) {
    const own = readSentence(sentencesOf(lead.text).at(-1)!).force;
    lead.forceBelow = own ?? (lead.lead === null ? null : forceBelow(lead.lead));
  }
  return lead.forceBelow;
}

/** A block with what introduces it. */
function originOf(block: Block): string {
  return block.lead === null ? block.text : `${sentencesOf(block.lead.text).at(-1)} ${block.text}`;
}
