import { describe, expect, it } from 'vitest';
import { dashboard, type Panel } from '../support/monitoring-files.js';

const { panels, templating } = dashboard;
const graphs = panels.filter(({ type }) => type !== 'row');

/** The cells of the grid that a panel covers. */
const cellsOf = ({ gridPos: { x, y, w, h } }: Panel) =>
  Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`);

describe('the dashboard of docs/monitoring/dashboard.json', () => {
  it('it is one of Grafana 11, with a row for receivers, workers, queues and jobs', () => {
    expect(dashboard).toMatchObject({ title: 'service-webhooks', uid: 'service-webhooks', schemaVersion: 39 });
    expect(panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
      'Receivers',
      'Workers',
      'Queues',
      'Jobs',
    ]);
  });

  it('the reader chooses the data source and the jobs', () => {
    expect(templating.list).toMatchObject([
      { name: 'datasource', type: 'datasource', query: 'prometheus' },
      { name: 'job', type: 'query' },
    ]);
    const source = { type: 'prometheus', uid: ['$', '{datasource}'].join('') };
    for (const { title, datasource, targets = [] } of graphs) {
      expect([datasource, ...targets.map((target) => target.datasource)], title).toEqual(
        Array(1 + targets.length).fill(source),
      );
      for (const { expr } of targets) expect(expr, title).toContain('job=~"$job"');
    }
  });

  it('each panel has its own id, title, description, unit and expressions', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    for (const { title, type, description, fieldConfig, targets = [] } of graphs) {
      expect(['timeseries', 'stat'], title).toContain(type);
      expect(description, title).toMatch(/\.$/);
      expect(fieldConfig?.defaults.unit, title).toMatch(/^\w+$/);
      expect(
        targets.map(({ refId }) => refId),
        title,
      ).toEqual(['A', 'B', 'C'].slice(0, Math.max(1, targets.length)));
    }
  });

  it('no two panels overlap, and none is wider than the grid', () => {
    const cells = panels.flatMap(cellsOf);
    expect(new Set(cells).size).toBe(cells.length);
    for (const { title, gridPos } of panels) expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
  });
});
