import { filled, ownProp, prop } from '../../http/oscal-parts.ts';
import {
  assignmentText,
  type ObjectivePart,
  type StoredAssessment,
  selectionText,
  shownLabel,
} from './assessment-record.ts';

/** The name of our property with an id that OSCAL does not allow as one. */
export const idName = 'part-id';
/** The name of our property with the words of a parameter that its label or choices do not give. */
export const shownName = 'shown';

/** NIST's namespace of its properties of SP 800-53. */
const rmf = 'http://csrc.nist.gov/ns/rmf';

/** Parameters of a control as OSCAL has them (rule D37.4). */
export function toParameters({ parameters = [] }: Partial<StoredAssessment>): object[] {
  return parameters.map((parameter) => {
    const { id, label, text, choices, howMany, aggregates = [], published, stated = [] } = parameter;
    const isMany = howMany === 'one-or-more';
    const own = published ?? shownLabel(text);
    const rebuilt = howMany === null ? assignmentText(own) : selectionText(choices, isMany);
    return {
      id: isToken(id) ? id : tokenOf(id),
      ...filled('props', [
        ...prop('label', label, { class: 'sp800-53a' }),
        ...aggregates.flatMap((each) => prop('aggregates', each, { ns: rmf })),
        ...(isToken(id) ? [] : ownProp(idName, id)),
        ...(rebuilt === text ? [] : ownProp(shownName, text)),
      ]),
      ...(howMany === null
        ? { label: own }
        : { select: { ...(isMany ? { 'how-many': howMany } : {}), choice: choices } }),
      ...filled('values', stated),
    };
  });
}

/** Objectives and methods of a control as parts; `id` is that of the control. */
export function toAssessmentParts(
  id: string,
  identifier: string,
  { objectives = [], methods = [] }: Partial<StoredAssessment>,
): object[] {
  // NIST gives some objectives the id of another; OSCAL allows an id once.
  const given = new Set<string>();
  const idOf = (id: string) => {
    const isId = isToken(id) && !given.has(id);
    given.add(id);
    return isId ? { id, props: [] } : { props: ownProp(idName, id) };
  };
  const toObjective = ({ id, label, prose, part, parts }: ObjectivePart): object => {
    const { props, ...head } = idOf(id);
    return {
      ...head,
      name: 'assessment-objective',
      ...filled('props', [...prop('label', label, { class: 'sp800-53a' }), ...props]),
      ...(prose === '' ? {} : { prose }),
      ...filled(
        'links',
        part === undefined ? [] : [{ href: itemOf(identifier, part), rel: 'assessment-for' }],
      ),
      ...filled('parts', parts.map(toObjective)),
    };
  };
  return [
    ...objectives.map(toObjective),
    ...methods.map(({ method, objects }, index) => ({
      ...(methods.findIndex((each) => each.method === method) === index
        ? { id: `${id}_asm-${method.toLowerCase()}` }
        : {}),
      name: 'assessment-method',
      props: prop('method', method, { ns: rmf }),
      ...filled(
        'parts',
        objects.length === 0 ? [] : [{ name: 'assessment-objects', prose: objects.join('\n\n') }],
      ),
    })),
  ];
}

/** The item of 800-171 that a part names: `c 2` of 03.01.01 is `#SR-03.01.01.c.02`. */
function itemOf(identifier: string, part: string): string {
  const words = part.split(' ').filter((word) => word !== '');
  return `#${[`SR-${identifier}`, ...words.map((word) => word.replace(/^\d$/, '0$&'))].join('.')}`;
}

/** Whether OSCAL allows a text as an id. */
export const isToken = (text: string) => /^[\p{L}_][\p{L}\p{N}.\-_]*$/u.test(text);

/** An id that OSCAL requires, of one that it does not allow. */
const tokenOf = (id: string) => `_${id.replace(/[^\p{L}\p{N}.\-_]/gu, '_')}`;
