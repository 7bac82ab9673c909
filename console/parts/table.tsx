// Tables of rows, page by page. On a narrow screen each row becomes a block with the titles of its columns.
import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { texts } from '../texts.js';
import { Button } from './form.js';
import { None, Skeleton } from './page.js';

export interface Column<T> {
  title: string;
  cell: (row: T) => ReactNode;
  numeric?: boolean;
}

interface TableProps<T> {
  name: string;
  rows: readonly T[] | undefined;
  keyOf: (row: T) => string;
  columns: readonly Column<T>[];
  empty: string;
}

export function Table<T>({ name, rows, keyOf, columns, empty }: TableProps<T>) {
  if (rows === undefined) return <Skeleton />;
  if (rows.length === 0) return <p className="empty">{empty}</p>;
  const shown = (content: ReactNode) => (content === texts.frame.none ? <None /> : content);
  return (
    <table aria-label={name}>
      <thead>
        <tr>
          {columns.map(({ title, numeric }) => (
            <th key={title} scope="col" className={numeric ? 'number' : ''}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, cell, numeric }) => (
              <td key={title} data-title={title} className={numeric ? 'number' : ''}>
                {shown(cell(row))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The filters of a list, stored in the URL. Changing a filter returns to the first page; empty filters are removed. */
export function useFilters(): [URLSearchParams, (key: string, value: string) => void] {
  const [params, setParams] = useSearchParams();
  const put = (key: string, value: string) =>
    setParams(
      (now) => {
        if (key !== 'page') now.delete('page');
        if (value) now.set(key, value);
        else now.delete(key);
        return now;
      },
      { replace: true },
    );
  return [params, put];
}

/** The page number of a list, stored in the URL. */
export function usePage(): [number, (page: number) => void] {
  const [params, setParams] = useSearchParams();
  const page = Math.max(1, Number(params.get('page')) || 1);
  const go = (next: number) =>
    setParams((now) => {
      now.set('page', String(next));
      return now;
    });
  return [page, go];
}

interface Paged<T> {
  items: T[];
  page: number;
  pageSize: number;
  total: number;
}

export function PagedTable<T>({
  data,
  onPage,
  ...table
}: Omit<TableProps<T>, 'rows'> & { data: Paged<T> | undefined; onPage: (page: number) => void }) {
  const pages = data ? Math.max(1, Math.ceil(data.total / data.pageSize)) : 1;
  return (
    <>
      <Table {...table} rows={data?.items} />
      {data && pages > 1 && (
        <nav className="row pages" aria-label={texts.frame.pagesOf(table.name)}>
          <Button isDisabled={data.page <= 1} onPress={() => onPage(data.page - 1)}>
            {texts.frame.previous}
          </Button>
          <span>{texts.frame.page(data.page, pages, data.total)}</span>
          <Button isDisabled={data.page >= pages} onPress={() => onPage(data.page + 1)}>
            {texts.frame.next}
          </Button>
        </nav>
      )}
    </>
  );
}
