// Draws a poster as a PDF with its fonts embedded.
import PDFDocument from 'pdfkit';
import { type Drawing, type Mark, rectangle } from './posterDrawing.view.js';
import { runsOf } from './posterFonts.rules.js';

type Document = InstanceType<typeof PDFDocument>;

function draw(document: Document, mark: Mark): void {
  if (mark.kind === 'path') document.path(mark.d).fill(mark.fill);
  if (mark.kind === 'picture') document.image(mark.png, mark.x, mark.y, { width: mark.width, height: mark.height });
  if (mark.kind !== 'text') return;
  document.fillColor(mark.fill).fontSize(mark.size);
  let { x } = mark;
  for (const { face, text, width } of runsOf(mark.text, mark.weight)) {
    // pdfkit knows a font by its name, and reads its bytes once.
    document.registerFont(face.name, face.bytes);
    // With a list of features, also an empty one, pdfkit orders the words of a run as its direction wants.
    document.font(face.name).text(text, x, mark.y, { lineBreak: false, baseline: 'alphabetic', features: [] });
    x += width * mark.size;
  }
}

export async function posterPdf({ title, language, width, height, panels }: Drawing): Promise<Buffer> {
  const document = new PDFDocument({ size: [width, height], margin: 0, info: { Title: title }, lang: language });
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise((resolve) => document.once('end', resolve));
  for (const panel of panels) {
    document.save();
    document.translate(panel.x, panel.y);
    if (panel.turned) document.rotate(180, { origin: [panel.width / 2, panel.height / 2] });
    document.path(rectangle(0, 0, panel.width, panel.height)).clip();
    for (const mark of panel.marks) draw(document, mark);
    document.restore();
  }
  document.end();
  await ended;
  return Buffer.concat(chunks);
}
