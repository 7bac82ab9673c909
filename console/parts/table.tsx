// Tables of rows, page by page. On a narrow screen each row becomes a block with the titles of its columns.
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import { type MouseEvent, type ReactNode, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { locale } from '../language.js';
import { texts } from '../texts.js';
import { Button } from './form.js';
import { isNarrow, None, Skeleton } from './page.js';

type Value = string | number | null | undefined;

export interface Column<T> {
  title: string;
  cell: (row: T) => ReactNode;
  numeric?: boolean;
  /** What rows are sorted by when the title is pressed: only where the table has all of them. */
  sort?: (row: T) => Value;
}

interface TableProps<T> {
  name: string;
  rows: readonly T[] | undefined;
  keyOf: (row: T) => string;
  columns: readonly Column<T>[];
  empty: string;
}

/** The link of a row's first cell. A click anywhere in the row follows it (`followRow`). */
export function RowLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link className="row-link" href={to}>
      {children}
    </Link>
  );
}

const middle = 1;

/** What in a row is pressed for its own sake. */
const pressed = 'a, button, select, input, label, summary';

/** A click at the end of a selection is not meant for the row: its texts can be selected and copied. */
function followRow({ currentTarget: row, target, nativeEvent, button }: MouseEvent<HTMLTableRowElement>): void {
  const link = row.querySelector('.row-link');
  if (!link || (target instanceof Element && target.closest(pressed))) return;
  const selection = getSelection();
  if (selection && !selection.isCollapsed && selection.containsNode(row, true)) return;
  // With the keys that were held: a new tab is opened as by the link itself, and with the middle button.
  const newTab = button === middle && { ctrlKey: true, metaKey: true };
  const { bubbles, cancelable, ctrlKey, metaKey, shiftKey } = nativeEvent;
  link.dispatchEvent(
    new globalThis.MouseEvent('click', { bubbles, cancelable, ctrlKey, metaKey, shiftKey, ...newTab }),
  );
}

const words = new Intl.Collator(locale, { numeric: true });

/** What has no value comes last in both directions. */
function compare(one: Value, other: Value, direction: 1 | -1): number {
  if (one == null || other == null) return Number(one == null) - Number(other == null);
  const isNumeric = typeof one === 'number' && typeof other === 'number';
  return direction * (isNumeric ? one - other : words.compare(String(one), String(other)));
}

interface Order {
  title: string;
  direction: 1 | -1;
}

function sorted<T>({ rows, columns }: TableProps<T>, order: Order | null): readonly T[] {
  const by = columns.find(({ title }) => title === order?.title)?.sort;
  if (!rows || !order || !by) return rows ?? [];
  return rows.toSorted((one, other) => compare(by(one), by(other), order.direction));
}

const icons = { '1': ArrowUp, '-1': ArrowDown };

interface TitleProps<T> {
  column: Column<T>;
  order: Order | null;
  onOrder: (order: Order) => void;
}

function ColumnTitle<T>({ column: { title, numeric, sort }, order, onOrder }: TitleProps<T>) {
  const direction = order?.title === title ? order.direction : undefined;
  const Icon = direction === undefined ? ChevronsUpDown : icons[direction];
  // On a narrow screen the titles are only for screen readers.
  const sorts = sort !== undefined && !isNarrow();
  return (
    <th
      scope="col"
      className={numeric ? 'number' : ''}
      {...(direction !== undefined && { 'aria-sort': direction === 1 ? 'ascending' : 'descending' })}
    >
      {sorts ? (
        <button
          type="button"
          className="sorter"
          onClick={() => onOrder({ title, direction: direction === 1 ? -1 : 1 })}
        >
          {title}
          <Icon size={14} aria-hidden />
        </button>
      ) : (
        title
      )}
    </th>
  );
}

export function Table<T>(props: TableProps<T>) {
  const { name, rows, keyOf, columns, empty } = props;
  const [order, setOrder] = useState<Order | null>(null);
  if (rows === undefined) return <Skeleton />;
  if (rows.length === 0) return <p className="empty">{empty}</p>;
  const shown = (content: ReactNode) => (content === texts.frame.none ? <None /> : content);
  return (
    <table aria-label={name}>
      <thead>
        <tr>
          {columns.map((column) => (
            <ColumnTitle key={column.title} column={column} order={order} onOrder={setOrder} />
          ))}
        </tr>
      </thead>
      <tbody>
        {sorted(props, order).map((row) => (
          <tr
            key={keyOf(row)}
            onClick={followRow}
            onAuxClick={(event) => {
              if (event.button === middle) followRow(event);
            }}
          >
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
