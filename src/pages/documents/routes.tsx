import type { Hono } from 'hono';
import { programName } from '../../base/installation.ts';
import { count } from '../../base/text.ts';
import {
  type DocumentStatus,
  documentStatuses,
  documentsQuery,
  type RegulatoryDocument,
  type RegulatoryDocuments,
} from '../../catalog/guidance/document-schema.ts';
import type { DocumentCollections } from '../../collections/catalog-collections-schema.ts';
import type { Env } from '../../http/env.ts';
import type { Services } from '../../services.ts';
import { Day, Downloads, Facts, path, ReadCollections, Table } from '../parts/components.tsx';
import { FindForm, Input, Select } from '../parts/forms.tsx';
import { listing } from '../parts/listing.tsx';
import { type PageSupport, readQuery } from '../parts/page.ts';
import type { View } from '../parts/view.ts';

/** Documents, for readers with the entitlement. */
export function documentPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { documents, documentCollections }: Pick<Services, 'documents' | 'documentCollections'>,
): void {
  app.get('/documents', guard.entitled('regdoc'), (c) => {
    const query = readQuery(c, documentsQuery);
    const { collections } = documentCollections.all(c.get('user'));
    const { search, publisher, doctype, status } = query;
    const filter = { search, publisher, doctype, status, limit: c.req.query('limit') };
    const inForce = documents.list({ ...query, status: status ?? 'active', page: 1, limit: 1 });
    return show(
      c,
      documentsPage({
        documents: documents.list(query),
        inForce: status === undefined || status === 'active' ? inForce.pagination.total : 0,
        collections,
        filter,
      }),
    );
  });

  app.get('/documents/:documentId', guard.entitled('regdoc'), (c) =>
    show(c, documentPage({ document: documents.record(c.req.param('documentId')) })),
  );
}

function documentsPage(page: {
  documents: RegulatoryDocuments;
  /** How many of all that fit are in force. */
  inForce: number;
  collections: DocumentCollections['collections'];
  filter: Partial<Record<'search' | 'publisher' | 'doctype' | 'status' | 'limit', string | undefined>>;
}): View {
  const { documents, pagination } = page.documents;
  const { search = '', publisher = '', doctype = '', status = '', limit } = page.filter;
  return {
    title: 'Regulatory documents',
    section: 'documents',
    body: (
      <>
        {listing({
          filters: (
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
          ),
          summary: `${count(pagination.total, 'document')}${page.inForce < pagination.total ? `, ${page.inForce} in force` : ''}`,
          caption: 'Regulatory documents',
          columns: [
            [
              'Title',
              (each) => (
                <>
                  <a href={path('documents', each.documentId)}>{each.title}</a>{' '}
                  {each.status === 'active' ? null : <span class="tag">{statusWords[each.status]}</span>}
                </>
              ),
            ],
            ['Publisher', (each) => each.publisher],
            ['Kind', (each) => each.doctype],
            ['Published', (each) => <Day date={each.published} />],
            [
              'Requirements',
              (each) =>
                each.status === 'active' ? (
                  each.actionableItemCount
                ) : (
                  <span class="quiet">none in force</span>
                ),
            ],
            ['Sections', (each) => each.signpostCount],
          ],
          rows: documents,
          home: '/documents',
          query: page.filter,
          pagination,
          empty:
            search + publisher + doctype + status === ''
              ? `No documents yet. Import them with ${programName} import PATH.`
              : 'No document fits.',
        })}
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

const kinds = [
  ['obligation', 'obligation'],
  ['psc', 'PSC'],
  ['specification', 'specification'],
  ['timingOrTrigger', 'timing or trigger'],
] as const;

function documentPage({ document }: { document: RegulatoryDocument }): View {
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
