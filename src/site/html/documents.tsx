import { count } from '../../base/text.ts';
import type { RegulatoryDocument, RegulatoryDocuments } from '../../catalog/guidance/document-schema.ts';
import type { DocumentCollections } from '../../collections/catalog-collections-schema.ts';
import { ReadCollections } from './collection-form.tsx';
import { Day, Downloads, Empty, Facts, FindForm, link, Nothing, Pager, path, Table } from './parts.tsx';
import type { View } from './view.ts';

export function documentsPage(page: {
  documents: RegulatoryDocuments;
  collections: DocumentCollections['collections'];
  search: string;
}): View {
  const { documents, pagination } = page.documents;
  const href = (number: number) => link('/documents', { search: page.search, page: number });
  return {
    title: 'Regulatory documents',
    section: 'documents',
    body: (
      <>
        <h1>Regulatory documents</h1>
        <FindForm action="/documents" label="Title contains" search={page.search} />
        <p class="quiet">{count(pagination.total, 'document')}</p>
        {documents.length === 0 ? (
          <Nothing pagination={pagination} href={href}>
            {page.search === ''
              ? 'No documents yet. Import them with gapstone import PATH.'
              : 'No document title contains this text.'}
          </Nothing>
        ) : (
          <Table
            caption="Regulatory documents"
            head={['Title', 'Publisher', 'Kind', 'Published', 'Actionable items', 'Signposts']}
            rows={documents.map((each) => [
              <a href={path('documents', each.documentId)}>{each.title}</a>,
              each.publisher,
              each.doctype,
              <Day date={each.published} />,
              each.actionableItemCount,
              each.signpostCount,
            ])}
          />
        )}
        <Pager pagination={pagination} href={href} />
        <ReadCollections
          of="Documents"
          api="regdoc-collections"
          collections={page.collections.map((each) => ({ ...each, count: each.documentCount }))}
        />
      </>
    ),
  };
}

const kinds = [
  ['obligation', 'obligation'],
  ['psc', 'PSC'],
  ['specification', 'specification'],
  ['timingOrTrigger', 'timing or trigger'],
] as const;

export function documentPage({ document }: { document: RegulatoryDocument }): View {
  return {
    title: document.title,
    section: 'documents',
    body: (
      <>
        <p class="crumbs">
          <a href="/documents">Regulatory documents</a>
        </p>
        <h1>{document.title}</h1>
        <Facts
          of={[
            ['ID', <span class="mono">{document.documentId}</span>],
            ['Publisher', document.publisher || <span class="quiet">unknown</span>],
            ['Kind', document.doctype],
            ['Published', <Day date={document.published} />],
            ['Jurisdiction', document.jurisdiction || <span class="quiet">unknown</span>],
            ['Source', document.sourceUrl || <span class="quiet">unknown</span>],
          ]}
        />
        <div class="actions">
          <Downloads
            href={(format) =>
              link(`/api/v1/regdoc/${encodeURIComponent(document.documentId)}/download`, { format })
            }
            formats={['json', 'csv', 'xml']}
          />
        </div>
        <h2>Actionable items</h2>
        {document.actionableItems.length === 0 ? (
          <Empty>This document has no actionable items.</Empty>
        ) : (
          <Table
            caption="Actionable items"
            key={1}
            head={['ID', 'Text', 'Kind', 'Reference']}
            rows={document.actionableItems.map((item) => [
              <span class="mono">{item.actionId}</span>,
              item.text,
              kinds.filter(([key]) => item[key]).map(([, label]) => <span class="tag">{label}</span>),
              item.sourceReference,
            ])}
          />
        )}
        <h2>Signposts</h2>
        {document.signposts.length === 0 ? (
          <Empty>This document has no signposts.</Empty>
        ) : (
          <Table
            caption="Signposts"
            head={['Signpost', 'Section', 'Meaning', 'NIST CSF']}
            rows={document.signposts.map((signpost) => [
              signpost.tag,
              signpost.page,
              signpost.inferenceText,
              signpost.nistCsf.map((each) => (
                <span class="tag">{`${each.csfCategory} ${each.csfCategoryName}`}</span>
              )),
            ])}
          />
        )}
      </>
    ),
  };
}
