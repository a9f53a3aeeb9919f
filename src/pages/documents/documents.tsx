import type { Child } from 'hono/jsx';
import { programName } from '../../base/installation.ts';
import { count } from '../../base/text.ts';
import {
  type DocumentStatus,
  documentStatuses,
  type RegulatoryDocument,
  type RegulatoryDocuments,
} from '../../catalog/guidance/document-schema.ts';
import type { DocumentCollections } from '../../collections/catalog-collections-schema.ts';
import { Day, Downloads, Facts, link, path, Table } from '../parts/components.tsx';
import { FindForm, Input, Select } from '../parts/forms.tsx';
import { ReadCollections } from '../parts/read-collections.tsx';
import type { View } from '../parts/view.ts';

export function documentsPage(page: {
  documents: RegulatoryDocuments;
  /** How many of all that fit are in force. */
  inForce: number;
  collections: DocumentCollections['collections'];
  filter: Partial<Record<'search' | 'publisher' | 'doctype' | 'status' | 'limit', string | undefined>>;
}): View {
  const { documents, pagination } = page.documents;
  const { search = '', publisher = '', doctype = '', status = '', limit } = page.filter;
  const href = (number: number) => link('/documents', { ...page.filter, page: number });
  return {
    title: 'Regulatory documents',
    section: 'documents',
    body: (
      <>
        <FindForm action="/documents" label="Title contains" search={search} keep={{ limit }}>
          <Input name="publisher" label="Publisher" type="search" value={publisher} maxlength={200} />
          <Input name="doctype" label="Kind" type="search" value={doctype} maxlength={200} />
          <Select
            name="status"
            label="Status"
            of={documentStatuses.map((each) => [each, statusWords[each]])}
            selected={status}
            none="any"
          />
        </FindForm>
        <p class="quiet">
          {count(pagination.total, 'document')}
          {page.inForce < pagination.total ? `, ${page.inForce} in force` : ''}
        </p>
        <Table
          caption="Regulatory documents"
          head={['Title', 'Publisher', 'Kind', 'Published', 'Requirements', 'Sections']}
          rows={documents.map((each) => [
            <>
              <a href={path('documents', each.documentId)}>{each.title}</a> <StatusMark of={each.status} />
            </>,
            each.publisher,
            each.doctype,
            <Day date={each.published} />,
            each.status === 'active' ? each.actionableItemCount : <span class="quiet">none in force</span>,
            each.signpostCount,
          ])}
          pages={{ pagination, href }}
        >
          {search + publisher + doctype + status === ''
            ? `No documents yet. Import them with ${programName} import PATH.`
            : 'No document fits.'}
        </Table>
        <ReadCollections
          of="Documents"
          api="regdoc-collections"
          collections={page.collections.map((each) => ({ ...each, count: each.documentCount }))}
        />
      </>
    ),
  };
}

const statusWords: Record<DocumentStatus, string> = {
  active: 'in force',
  revoked: 'revoked',
  superseded: 'superseded',
};

function StatusMark({ of }: { of: DocumentStatus }): Child {
  return of === 'active' ? null : <span class="tag">{statusWords[of]}</span>;
}

const kinds = [
  ['obligation', 'obligation'],
  ['psc', 'PSC'],
  ['specification', 'specification'],
  ['timingOrTrigger', 'timing or trigger'],
] as const;

export function documentPage({ document }: { document: RegulatoryDocument }): View {
  const isActive = document.status === 'active';
  const requirements = isActive ? 'Requirements' : 'Former requirements';
  return {
    title: document.title,
    section: 'documents',
    crumbs: [['Regulatory documents', '/documents']],
    actions: (
      <Downloads
        of={path('regdoc', document.documentId, 'download')}
        formats={['json', 'csv', 'xml', 'xlsx']}
      />
    ),
    body: (
      <>
        {isActive ? null : (
          <p class="warning">
            This document is {statusWords[document.status]}: its requirements are no longer in force.
          </p>
        )}
        <Facts
          of={[
            ['ID', <span class="mono">{document.documentId}</span>],
            ['Status', statusWords[document.status]],
            ['Publisher', document.publisher || <span class="quiet">unknown</span>],
            ['Kind', document.doctype],
            ['Published', <Day date={document.published} />],
            ['Jurisdiction', document.jurisdiction || <span class="quiet">unknown</span>],
            ['Source', document.sourceUrl || <span class="quiet">unknown</span>],
          ]}
        />
        <h2>{requirements}</h2>
        <Table
          caption={requirements}
          class="words"
          headColumn={1}
          head={['ID', 'Text', 'Kind', 'Reference']}
          rows={document.actionableItems.map((item) => [
            <span class={item.actionId.length > 20 ? 'mono' : 'ids'}>{item.actionId}</span>,
            item.text,
            kinds.filter(([key]) => item[key]).map(([, label]) => <span class="tag">{label}</span>),
            item.sourceReference,
          ])}
        >
          This document has no requirements.
        </Table>
        <h2>Sections</h2>
        <Table
          caption="Sections"
          class="words"
          head={['Section', 'Page or number', 'Meaning', 'NIST CSF']}
          rows={document.signposts.map((signpost) => [
            signpost.tag,
            signpost.page,
            signpost.inferenceText,
            signpost.nistCsf.map((each) => (
              <span class="tag">{`${each.csfCategory} ${each.csfCategoryName}`}</span>
            )),
          ])}
        >
          This document has no sections.
        </Table>
      </>
    ),
  };
}
