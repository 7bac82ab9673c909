// Draws a line chart as a PNG without a browser and with a bundled font, so the picture is the same on every machine.
import { createRequire } from 'node:module';
import { Resvg } from '@resvg/resvg-js';
import { init } from 'echarts';

export interface Axis {
  name: string;
  /** A logarithmic axis with this base. */
  log?: number;
}

export interface Chart {
  title: string;
  x: Axis;
  y: Axis;
  lines: { name: string; points: [x: number, y: number][] }[];
}

const [width, height] = [860, 460];
const fontFamily = 'DejaVu Sans';
const fontFile = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf');

const axis = ({ name, log }: Axis, values: readonly number[]) => ({
  name,
  nameLocation: 'middle' as const,
  nameGap: 34,
  nameTextStyle: { fontSize: 14 },
  axisLabel: { fontSize: 13, formatter: (value: number) => value.toLocaleString('en') },
  splitLine: { show: true, lineStyle: { color: '#e4e4e4' } },
  ...(log ? { type: 'log' as const, logBase: log, min: Math.min(...values) } : { type: 'value' as const }),
});

export function drawChart({ title, x, y, lines }: Chart): Buffer {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    textStyle: { fontFamily },
    color: ['#0b62a4', '#d1495b', '#3a7d44', '#8d6a9f', '#c77d0a', '#4a4a4a'],
    title: { text: title, left: 'center', top: 10, textStyle: { fontSize: 17, fontWeight: 'normal', fontFamily } },
    // Without a browser the widths of texts are estimated too small.
    legend: { top: 40, itemGap: 28, textStyle: { fontSize: 13 } },
    grid: { left: 90, right: 50, top: 80, bottom: 60 },
    xAxis: axis(
      x,
      lines.flatMap(({ points }) => points.map(([at]) => at)),
    ),
    yAxis: {
      ...axis(y, [0]),
      nameGap: 62,
      // A logarithmic axis has no zero.
      ...(y.log && { min: 'dataMin' }),
    },
    series: lines.map(({ name, points }) => ({ type: 'line', name, data: points, symbol: 'circle', symbolSize: 7 })),
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return new Resvg(svg, {
    font: { fontFiles: [fontFile], loadSystemFonts: false, defaultFontFamily: fontFamily },
    fitTo: { mode: 'zoom', value: 1.5 },
  })
    .render()
    .asPng();
}
