/* Scripts of the report page: interactive figures, and a table with sorting, filters and exports.
   All text from the study reaches the page as text (textContent, canvas), never as markup. */
"use strict";
(async () => {
  const byId = (id) => document.getElementById(id);
  /* Large data are gzip in base64; browsers without decompression keep the static page. */
  if (typeof DecompressionStream === "undefined" && document.querySelector("[data-encoding]")) return;
  const read = async (id) => {
    const block = byId(id), text = block.textContent;
    if (!block.dataset.encoding) return JSON.parse(text);
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };
  const data = await read("assay-figures");
  const scale = data.scale;
  const [noun, nouns] = data.noun;

  /* Pictures share the launches, which they refer to by number. */
  const columns = Object.entries(data.launches);
  const marks = (data.launches.number || []).map((_, i) =>
    Object.fromEntries(columns.map(([name, values]) => [name, values[i]])));
  const launches = new Map(marks.map((m) => [m.number, m]));
  const byNumber = (numbers) => numbers.map((n) => launches.get(n));
  const { boxes: drawn, convergence: way } = data.figures;
  (drawn ? drawn.boxes : []).forEach((box, i) =>
    Object.assign(box, { dots: byNumber(box.dots), summary: data.rows[i].n ? data.rows[i] : null }));
  if (way) Object.assign(way, { marks, drift: byNumber(way.drift) });
  const MINUS = "\u2212";
  const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]/;

  const number = (value) => {
    const digits = { minimumFractionDigits: scale.decimals, maximumFractionDigits: scale.decimals };
    const text = (Math.abs(value) / scale.factor).toLocaleString("en-US", digits);
    return value < 0 ? MINUS + text : text;
  };
  const quantity = (value) => `${number(value)} ${scale.unit}`.trim();
  const factor = (ratio) => `${ratio.toFixed(2)}\u00d7`;
  const change = (ratio) => {
    if (ratio >= 2) return factor(ratio);
    const percent = (ratio - 1) * 100;
    if (Math.abs(percent) < 0.05) return "0.0\u00a0%";
    return `${percent < 0 ? MINUS : "+"}${Math.abs(percent).toFixed(1)}\u00a0%`;
  };
  const interval = (low, high) => {
    if (low == null && high == null) return "open";
    if (low == null) return `at most ${change(high)}`;
    if (high == null) return `at least ${change(low)}`;
    const show = high >= 2 ? factor : change;
    return `${show(low)} to ${show(high)}`;
  };
  const wholeChange = (ratio) =>
    ratio >= 2 ? `${Number(ratio.toPrecision(6))}\u00d7` : change(ratio).replace(".0\u00a0", "\u00a0");
  const counted = (n, one, many) => `${n.toLocaleString("en-US")} ${n === 1 ? one : many || `${one}s`}`;
  const shorten = (text, width) => {
    if (text.length <= width) return text;
    const head = Math.floor(((width - 1) * 2) / 3);
    return `${text.slice(0, head)}\u2026${text.slice(text.length - (width - 1 - head))}`;
  };
  const wrap = (label, width) => {
    const short = shorten(label, 2 * width - 4);
    if (short.length <= width) return [short];
    const at = short.lastIndexOf(" ", width);
    return at >= short.length - width
      ? [short.slice(0, at), short.slice(at + 1)]
      : [short.slice(0, width), short.slice(width)];
  };
  const pen = document.createElement("canvas").getContext("2d");
  const fits = (line, room, font) => {
    pen.font = font;
    return pen.measureText(line).width <= room;
  };
  /* At most two lines of a maximum width in pixels. */
  const fitted = (label, room, font) => {
    let width = 40;
    while (width > 12 && !wrap(label, width).every((line) => fits(line, room, font))) width -= 1;
    return wrap(label, width);
  };
  const colour = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  /* ---- figures ---------------------------------------------------------------------------- */
  const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
  const fontOf = (weight) => `${weight} 12.5px ${FONT}`;
  const STACKED = 600;
  const DRAWING = 26;
  const BOX_FROM = 3;
  const LOG_SPAN = 20;
  const SEARCH_SHOWN = 12;
  const MOST_ROWS = 400;
  const HEADINGS = {
    confirmation: `Confirmation: new ${nouns}, the only basis of the claim`,
    search: `Search: ${nouns} that selected the candidates, without a claim`,
  };
  const SHORT_HEADINGS = {
    confirmation: "Confirmation: basis of the claim",
    search: "Search: without a claim",
  };
  const spread = (i) => ((i * 0.6180339887498949 + 0.5) % 1) * 2 - 1;

  const visible = (rows) => {
    let others = 0;
    return rows.filter((row) => {
      if (row.phase === "confirmation" || row.role !== "other") return true;
      others += 1;
      return others <= SEARCH_SHOWN * (row.phase === "measured" ? 2 : 1);
    });
  };

  const tooltip = () => ({
    renderMode: "richText", confine: true, transitionDuration: 0,
    backgroundColor: colour("panel"), borderColor: colour("other"), borderWidth: 1, padding: 10,
    textStyle: { color: colour("ink"), fontFamily: FONT, fontSize: 12.5, lineHeight: 18 },
  });

  /* Text in a rich-text label is markup for ECharts only where it has braces with a bar: break it. */
  const plain = (text) => text.replace(/\{/g, "{\u200b");

  const ends = (values) => values.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)],
    [Infinity, -Infinity]);

  /* Outliers extend an axis by at most half; frame.py does the same. */
  const framed = (near, everything) => {
    const [low, high] = ends(near), room = 0.5 * (high - low);
    return [low - everything[0] <= room ? Math.min(low, everything[0]) : low,
      everything[1] - high <= room ? Math.max(high, everything[1]) : high];
  };

  const decades = (from, to) => {
    const found = [];
    for (let d = Math.floor(Math.log10(from)); d <= Math.ceil(Math.log10(to)); d += 1) {
      for (const k of [1, 3]) if (from <= k * 10 ** d && k * 10 ** d <= to) found.push(k * 10 ** d);
    }
    return found;
  };

  /* Ticks are counted from the origin, so that zero change is one of them. */
  const axisOf = ([from, to], origin, stacked, show) => {
    const logarithmic = from > 0 && to / from > LOG_SPAN;
    /* By itself a logarithmic axis writes powers of ten, of which there may be but one. */
    const places = logarithmic ? decades(from, to) : undefined;
    const zero = logarithmic ? 0 : origin;
    let low = from - zero, high = to - zero;
    if (logarithmic) { low /= 1.15; high *= 1.15; } else {
      const pad = (high - low || Math.abs(high) || 1) * 0.04;
      low -= pad; high += pad;
    }
    return {
      type: logarithmic ? "log" : "value", min: low, max: high, splitNumber: stacked ? 3 : 5, zero,
      axisLabel: { color: colour("muted"), fontFamily: FONT, fontSize: 11.5,
        formatter: (v) => show(v + zero),
        customValues: places, hideOverlap: true,
        showMinLabel: logarithmic, showMaxLabel: logarithmic },
      axisLine: { show: true, onZero: false, lineStyle: { color: colour("grid") } },
      axisTick: { show: false, customValues: places }, position: "bottom",
      splitLine: { showMinLine: logarithmic, showMaxLine: logarithmic, lineStyle: { color: colour("grid") } },
      nameLocation: "middle", nameGap: 30,
      nameTextStyle: { color: colour("muted"), fontFamily: FONT, fontSize: 12 },
    };
  };

  /* One row for each arm: label, drawing, value. Pixels on the y axis, so rows keep their height. */
  const rowChart = (rows, width, shape) => {
    const stacked = width < STACKED;
    const frame = stacked
      ? { left: 2, right: 8, row: shape.stackedRow }
      : { left: Math.min(300, width * 0.32), right: shape.right, row: shape.row };
    const items = [];
    const limits = shape.limits(rows);
    const { zero, ...axis } = axisOf(limits, shape.origin, stacked, shape.show);
    let top = 0, phase = null;
    for (const row of rows) {
      if (row.phase !== phase) {
        phase = row.phase;
        const heading = (stacked ? SHORT_HEADINGS : HEADINGS)[phase];
        if (heading) { items.push({ heading, top, height: 30 }); top += 30; }
      }
      items.push({ row, top, height: frame.row });
      top += frame.row;
    }
    const text = (x, y, words, style) => ({
      type: "text", x, y, silent: true,
      style: { text: plain(words), fill: colour("ink"), font: fontOf(style.weight || 400),
        stroke: colour("panel"), lineWidth: 3, textVerticalAlign: "middle", ...style },
    });
    const render = (params, api) => {
      const item = items[params.dataIndex];
      const y0 = api.coord([0, item.top])[1];
      const area = params.coordSys;
      if (item.heading) {
        /* Hide lines of the plot behind headings. */
        return { type: "group", silent: true, children: [
          { type: "rect", shape: { x: 0, y: y0, width, height: item.height },
            style: { fill: colour("panel") } },
          text(0, y0 + 16, item.heading, { weight: 600, fill: colour("muted") }) ] };
      }
      const { row } = item;
      const middle = stacked ? y0 + frame.row - 14 : y0 + frame.row / 2;
      const weight = row.role === "other" ? 400 : 600;
      const [value, extra] = shape.words(row, stacked);
      const children = [{
        type: "rect", shape: { x: 0, y: y0, width, height: frame.row },
        style: { fill: "transparent" }, emphasis: { style: { fill: colour("band"), opacity: 0.6 } },
        z2: -10,
      }];
      if (stacked) {
        /* Hide lines of the plot behind labels. */
        children.push({ type: "rect", silent: true, style: { fill: colour("panel") }, z2: -5,
          shape: { x: 0, y: y0, width, height: frame.row - DRAWING } });
        const room = width * 0.72;
        fitted(row.label, room, fontOf(weight)).forEach((line, i) =>
          children.push(text(0, y0 + 12 + i * 15, line, { weight,
            backgroundColor: colour("panel"), padding: [1, 4, 1, 0] })));
        children.push(text(width, y0 + 12, value, { weight, textAlign: "right",
          backgroundColor: colour("panel"), padding: [1, 0, 1, 4] }));
      } else {
        const lines = fitted(row.label, frame.left - 16, fontOf(weight));
        lines.forEach((line, i) => children.push(text(frame.left - 14,
          middle + (i - (lines.length - 1) / 2) * 14, line, { weight, textAlign: "right" })));
        const x = width - frame.right + 14;
        children.push(text(x, middle - (extra ? 7 : 0), shorten(value, 22), { weight }));
        children.push(text(x, middle + 8, shorten(extra, 24),
          { fill: colour("muted"), font: `400 11.5px ${FONT}` }));
      }
      const at = (v) => api.coord([v - zero, item.top])[0];
      const x = (v) => Math.min(area.x + area.width, Math.max(area.x, at(v)));
      return { type: "group", children: children.concat(shape.draw(row, x, middle, area, limits)) };
    };
    const dimension = shape.axis;
    return {
      height: top + 50,
      option: {
        animation: false, tooltip: { ...tooltip(), trigger: "item",
          formatter: (p) => (items[p.dataIndex].row ? plain(shape.tip(items[p.dataIndex].row)) : "") },
        grid: { left: frame.left, right: frame.right, top: 0, height: top },
        xAxis: { ...axis, name: dimension(stacked) },
        yAxis: { type: "value", min: 0, max: top, inverse: true, show: false },
        series: [{
          type: "custom", renderItem: render, clip: false, data: items.map((i) => [0, i.top]),
          encode: { x: -1, y: 1 }, markArea: shape.band && shape.band(zero),
          markLine: shape.line && shape.line(zero),
        }],
      },
    };
  };

  const line = (x1, y1, x2, y2, stroke, lineWidth) => ({
    type: "line", shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth } });

  const everyValue = (rows) => ends(rows.flatMap((r) => r.dots.filter((d) => !d.left_out).map((d) => d.value)
    .concat(r.summary ? [r.summary.min, r.summary.max] : [])));
  const boxLimits = (rows) => {
    const near = rows.flatMap((r) => r.fences || []);
    return near.length ? framed(near, everyValue(rows)) : everyValue(rows);
  };
  const arrow = (px, y, way, stroke) => ({ type: "polygon",
    shape: { points: [[px, y - 4], [px + 6 * way, y], [px, y + 4]] },
    style: { fill: "transparent", stroke, lineWidth: 1.2 } });

  /* Left-out launches have another shape and colour. */
  const plus = (px, y, stroke) => ({ type: "group", children: [
    line(px - 3, y, px + 3, y, stroke, 1), line(px, y - 3, px, y + 3, stroke, 1)] });

  const boxes = (figure, rows, width, all) => rowChart(rows, width, {
    row: 36, stackedRow: 60, right: 142, origin: 0,
    axis: () => `${figure.metric}${scale.unit ? ` in ${scale.unit}` : ""} ` +
      `(${figure.goal === "lower" ? "less" : "more"} is better)`,
    show: (v) => number(v),
    limits: all ? everyValue : boxLimits,
    words: (row, stacked) => row.summary
      ? [quantity(row.summary.median),
        `n = ${row.summary.n}${row.note && !stacked ? `, ${row.note}` : ""}`]
      : [row.note, ""],
    tip: (row) => {
      const s = row.summary;
      const lines = [shorten(row.label, 64)];
      if (s && s.n < BOX_FROM) lines.push(...row.dots.filter((d) => !d.left_out).map((d) =>
        (d.censored ? `timed out at ${quantity(d.value)}` : quantity(d.value))));
      else if (s) lines.push(
        `median  ${quantity(s.median)}`,
        `middle half  ${number(s.q1)} to ${quantity(s.q3)}`,
        `all  ${number(s.min)} to ${quantity(s.max)}`,
        `mean  ${quantity(s.mean)}${s.sd == null ? "" : `, sd ${quantity(s.sd)}`}`,
        counted(s.n, noun, nouns));
      if (row.note) lines.push(row.note);
      return lines.join("\n");
    },
    draw: (row, x, y, area, [from, to]) => {
      const stroke = colour(row.role), soft = colour(`${row.role}-soft`), s = row.summary;
      const inside = (v) => from <= v && v <= to;
      const shapes = [];
      if (s && s.n >= BOX_FROM) {
        shapes.push(line(x(s.min), y, x(s.q1), y, stroke, 1.2), line(x(s.q3), y, x(s.max), y, stroke, 1.2));
        for (const end of [s.min, s.max].filter(inside)) shapes.push(line(x(end), y - 4, x(end), y + 4, stroke, 1.2));
        shapes.push({ type: "rect",
          shape: { x: x(s.q1), y: y - 9, width: Math.max(1, x(s.q3) - x(s.q1)), height: 18 },
          style: { fill: soft, stroke, lineWidth: 1.2 } });
        shapes.push(line(x(s.median), y - 9, x(s.median), y + 9, stroke, 2.4));
      }
      let i = 0;
      for (const dot of row.dots) {
        if (dot.left_out) {
          if (inside(dot.value)) shapes.push(plus(x(dot.value), y + spread(i) * 6, colour("warn")));
          i += 1;
        } else if (dot.censored) {
          shapes.push(arrow(x(dot.value), y, 1, colour("bad")));
        } else if (inside(dot.value)) {
          const r = s && s.n >= BOX_FROM ? 1.6 : 2.4;
          shapes.push({ type: "circle", shape: { cx: x(dot.value), cy: y + spread(i) * 6, r },
            style: { fill: stroke, opacity: 0.6 } });
          i += 1;
        }
      }
      const plain = row.dots.filter((d) => !d.censored && !d.left_out);
      if (plain.some((d) => d.value < from)) shapes.push(arrow(area.x, y, -1, stroke));
      if (plain.some((d) => d.value > to)) shapes.push(arrow(area.x + area.width, y, 1, stroke));
      return shapes;
    },
  });

  const gain = (figure, rows, width) => rowChart(rows, width, {
    row: 36, stackedRow: 58, right: 142, origin: 1,
    axis: (stacked) => `change of ${figure.metric} against ${shorten(figure.baseline, 40)}` +
      (stacked ? "" : ` (${figure.goal === "lower" ? "left" : "right"} is better)`),
    show: wholeChange,
    limits: (shown) => ends(shown.flatMap((r) => [r.ratio, r.low, r.high])
      .filter((v) => v != null && v > 0).concat([1 - 2 * figure.margin, 1 + 2 * figure.margin])),
    words: (row, stacked) => {
      const bound = row.bound_only ? (row.high == null ? "\u2265 " : "\u2264 ") : "";
      if (row.verdict == null) return [bound + change(row.ratio), "no claim"];
      return [bound + change(row.ratio), stacked ? row.verdict : interval(row.low, row.high)];
    },
    tip: (row) => [shorten(row.label, 64), `change  ${change(row.ratio)}`]
      .concat(row.verdict == null
        ? ["no claim: this only chose what to try next"]
        : [`interval  ${interval(row.low, row.high)}`, `verdict  ${row.verdict}`,
          `${counted(row.blocks, "pair")} of ${nouns}`]).join("\n"),
    draw: (row, x, y, area) => {
      const stroke = colour(row.role), shapes = [];
      if (row.verdict != null) {
        const low = row.low == null ? area.x : x(row.low);
        const high = row.high == null ? area.x + area.width : x(row.high);
        shapes.push(line(low, y, high, y, stroke, 2.2));
        if (row.low != null) shapes.push(line(low, y - 5, low, y + 5, stroke, 1.6));
        if (row.high != null) shapes.push(line(high, y - 5, high, y + 5, stroke, 1.6));
      }
      shapes.push({ type: "circle", shape: { cx: x(row.ratio), cy: y, r: 4 },
        style: { fill: row.verdict == null ? colour("panel") : stroke, stroke, lineWidth: 1.5 } });
      return shapes;
    },
    band: (zero) => ({ silent: true, z: 0, itemStyle: { color: colour("band") },
      data: [[{ xAxis: 1 - figure.margin - zero }, { xAxis: 1 + figure.margin - zero }]] }),
    line: (zero) => ({ silent: true, z: 1, symbol: "none", label: { show: false },
      lineStyle: { color: colour("baseline"), type: "solid", width: 1.2 },
      data: [{ xAxis: 1 - zero }] }),
  });

  const stepped = (points) => points.flatMap((p, i) => (i ? [[p[0], points[i - 1][1]], p] : [p]));

  const counting = (some) => some.filter((m) => !m.left_out);

  const convergence = (figure, state, width) => {
    const time = state.axis === "time", narrow = width < STACKED;
    const at = (m) => (time ? m.at_s : m.number);
    let [low, high] = figure.frame;
    if (state.all) {
      [low, high] = ends([low, high, ...counting(figure.marks).map((m) => m.value)]);
    }
    const pad = (high - low || Math.abs(high) || 1) * 0.06;
    low -= pad; high += pad;
    const last = figure.marks[figure.marks.length - 1];
    const dot = (m) => {
      if (m.left_out) {
        return { value: [at(m), m.value], mark: m, symbol: "path://M0,3L6,3M3,0L3,6", symbolSize: 7,
          itemStyle: { color: "transparent", borderColor: colour("warn"), borderWidth: 1, opacity: 0.8 } };
      }
      const above = m.value > high, below = m.value < low;
      return {
        value: [at(m), Math.min(high, Math.max(low, m.value))], mark: m,
        symbol: m.censored || above || below ? "triangle" : "circle",
        symbolRotate: below ? 180 : 0, symbolSize: m.censored || above || below ? 7 : 6,
        itemStyle: { color: m.censored ? colour("bad") : colour(m.role), opacity: 0.85 },
      };
    };
    const steps = figure.best.map((s) => [at(s), s.value]);
    if (steps.length) steps.push([at(last), figure.best[figure.best.length - 1].value]);
    const common = { axisTick: { show: false }, axisLine: { show: true, onZero: false, lineStyle: { color: colour("grid") } },
      axisLabel: { color: colour("muted"), fontFamily: FONT, fontSize: 11.5, hideOverlap: true },
      nameTextStyle: { color: colour("muted"), fontFamily: FONT, fontSize: 12 } };
    const spans = figure.spans.map((s) => [{
      name: data.stages[s.stage] || s.stage, xAxis: time ? s.from_s : s.first - 0.5,
    }, { xAxis: time ? s.to_s : s.last + 0.5 }]);
    const total = time ? last.at_s : last.number;
    const room = (s) => ((time ? s.to_s - s.from_s : s.last - s.first + 1) / total) * (width - 80);
    return {
      height: 340,
      option: {
        animation: false,
        tooltip: { ...tooltip(), trigger: "item", formatter: (p) => {
          if (!p.data || !p.data.mark) return "";
          const m = p.data.mark;
          const lost = m.left_out ? ["left out: others used the machine"] : [];
          return plain([shorten(m.arm, 64),
            `${noun} ${m.number}, ${data.stages[m.stage] || m.stage}`,
            m.censored ? `timed out at ${quantity(m.value)}` : quantity(m.value),
            ...lost].join("\n"));
        } },
        grid: { left: 64, right: 14, top: 40, bottom: 48 },
        xAxis: { type: "value", min: time ? 0 : 0.2, max: time ? last.at_s : last.number + 0.8,
          minInterval: 1, name: time ? `seconds since the first ${noun}` : noun,
          nameLocation: "middle", nameGap: 28, splitNumber: narrow ? 3 : 8,
          splitLine: { show: false }, ...common,
          axisLabel: { ...common.axisLabel, showMinLabel: false, showMaxLabel: false } },
        yAxis: { type: "value", min: low, max: high, splitNumber: 5,
          name: `${figure.metric}${scale.unit ? ` in ${scale.unit}` : ""}`, nameGap: 22,
          splitLine: { showMinLine: false, showMaxLine: false, lineStyle: { color: colour("grid") } },
          ...common, axisLine: { show: false },
          nameTextStyle: { ...common.nameTextStyle, align: "left", padding: [0, 0, 0, -56] },
          axisLabel: { ...common.axisLabel, formatter: (v) => number(v),
            showMinLabel: false, showMaxLabel: false } },
        series: [
          { type: "line", data: figure.drift.map((m) => [at(m), m.value]), symbol: "none", silent: true,
            lineStyle: { color: colour("baseline"), width: 1 }, z: 2,
            markArea: { silent: true, itemStyle: { color: "transparent" }, data: spans,
              label: { color: colour("muted"), fontFamily: FONT, fontSize: 11.5, position: "top",
                formatter: (p) => {
                  const span = figure.spans[p.dataIndex];
                  return span && room(span) > 7 * p.name.length ? p.name : "";
                } } },
            markLine: { silent: true, symbol: "none", label: { show: false },
              lineStyle: { color: colour("grid"), type: "solid" },
              data: figure.spans.slice(1).map((s) => ({ xAxis: time ? s.from_s : s.first - 0.5 })) } },
          /* not a line series with steps: that one drops steps of less than a pixel, and slants */
          { type: "custom", silent: true, z: 3, data: steps.length ? [steps[0]] : [], clip: true,
            renderItem: (params, api) => ({ type: "polyline",
              shape: { points: stepped(steps.map((s) => api.coord(s))) },
              style: { fill: "none", stroke: colour("winner"), lineWidth: 2 } }) },
          { type: "scatter", data: figure.marks.filter((m) => !m.left_out || (low <= m.value && m.value <= high)).map(dot), z: 4, clip: false, progressive: 0 },
          { type: "scatter", silent: true, z: 4, symbol: "path://M0,0L6,6M6,0L0,6", symbolSize: 7,
            symbolOffset: [0, -6],
            itemStyle: { color: "transparent", borderColor: colour("bad"), borderWidth: 1.5 },
            data: time ? [] : figure.failed.map((n) => [n, low]) },
        ],
      },
    };
  };

  /* Reported values of each launch over steps or seconds. Each picture has a scale of its own. */
  const progress = (figure, state, width) => {
    const time = state.axis === "time", narrow = width < STACKED;
    const { factor: unit, unit: unitName, decimals } = figure.scale;
    const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    const show = (v) => `${(v / unit).toLocaleString("en-US", digits)}`.replace("-", MINUS);
    const plainNumber = (v) => String(Number((v / unit).toPrecision(3)));
    const at = (line) => (time ? line.times_s : line.steps);
    let [low, high] = figure.frame;
    if (state.all) {
      [low, high] = ends([low, high, ...figure.lines.flatMap((l) => [...l.values, ...l.maxima])]);
    }
    if (figure.logarithmic) { low /= 1.15; high *= 1.15; } else {
      const pad = (high - low || Math.abs(high) || 1) * 0.06;
      low = low >= 0 && low < pad ? 0 : low - pad; high += pad;
    }
    const last = Math.max(...figure.lines.map((l) => at(l)[at(l).length - 1]));
    const warm = time ? figure.warm_up_s : figure.warm_up_step;
    const inside = (v) => Math.min(high, Math.max(low, v));
    const places = figure.logarithmic ? decades(low, high) : undefined;
    const text = { color: colour("muted"), fontFamily: FONT, fontSize: 11.5 };
    const band = (line, z) => ({
      type: "custom", silent: true, clip: true, z, data: [[at(line)[0], inside(line.minima[0])]],
      renderItem: (params, api) => ({ type: "polygon", silent: true,
        shape: { points: [
          ...at(line).map((x, i) => api.coord([x, inside(line.maxima[i])])),
          ...at(line).map((x, i) => api.coord([x, inside(line.minima[i])])).reverse()] },
        style: { fill: colour(`${line.role}-soft`), opacity: 0.6 } }),
    });
    const lines = figure.lines.flatMap((line, place) => {
      const z = line.front ? 20 : 2;
      const drawn = {
        type: "line", z: z + 1, animation: false, clip: true, symbol: "circle", symbolSize: 6,
        showAllSymbol: true, lineStyle: { color: colour(line.role), width: line.front ? 1.4 : 0.9,
          opacity: line.front ? 0.85 : 0.6 },
        itemStyle: { color: colour(line.role), opacity: 0 },
        emphasis: { itemStyle: { opacity: 1 }, lineStyle: { width: 2.4, opacity: 1 } },
        data: line.values.map((v, i) => ({ value: [at(line)[i], v], line, index: i })),
      };
      if (!place && warm > 0) {
        drawn.markArea = { silent: true, z: 0, itemStyle: { color: colour("band") },
          label: { ...text, position: "insideTopLeft", offset: [-4, -22] },
          data: [[{ name: "warm-up", xAxis: 0 }, { xAxis: warm }]] };
      }
      const end = line.values.length - 1;
      const cross = { type: "scatter", silent: true, z: 40, symbol: "path://M0,0L6,6M6,0L0,6",
        symbolSize: 9, itemStyle: { color: "transparent", borderColor: colour("bad"), borderWidth: 1.8 },
        data: [[at(line)[end], inside(line.values[end])]] };
      return [...(line.minima.length ? [band(line, z)] : []), drawn,
        ...(line.ended_early ? [cross] : [])];
    });
    const quiet = { axisTick: { show: false }, nameTextStyle: { ...text, fontSize: 12 } };
    const word = (v) => `${show(v)} ${unitName}`.trim();
    return {
      height: 340,
      option: {
        animation: false,
        tooltip: { ...tooltip(), trigger: "item", formatter: (p) => {
          if (!p.data || !p.data.line) return "";
          const { line, index: i } = p.data;
          return plain([shorten(line.arm, 64),
            `${noun} ${line.number}, ${data.stages[line.stage] || line.stage}`,
            `step ${line.steps[i].toLocaleString("en-US")}, ${line.times_s[i].toLocaleString("en-US")} s`,
            line.minima.length ? `${word(line.values[i])} (${show(line.minima[i])} to ${word(line.maxima[i])})`
              : word(line.values[i]),
            ...(line.ended_early ? ["ended early as clearly worse"] : [])].join("\n"));
        } },
        grid: { left: 64, right: 14, top: 52, bottom: 48 },
        xAxis: { type: "value", min: 0, max: last * 1.01 || 1, splitNumber: narrow ? 3 : 8,
          name: time ? `seconds since the start of the ${noun}` : "step", nameLocation: "middle",
          nameGap: 28, splitLine: { show: false }, ...quiet,
          axisLine: { show: true, onZero: false, lineStyle: { color: colour("grid") } },
          axisLabel: { ...text, hideOverlap: true, showMaxLabel: false } },
        yAxis: { type: figure.logarithmic ? "log" : "value", min: low, max: high, splitNumber: 5,
          name: `${figure.metric}${unitName ? ` in ${unitName}` : ""}`, nameGap: 32, ...quiet,
          nameTextStyle: { ...text, fontSize: 12, align: "left", padding: [0, 0, 0, -56] },
          axisLine: { show: false }, axisTick: { show: false, customValues: places },
          splitLine: { showMinLine: figure.logarithmic, showMaxLine: figure.logarithmic, lineStyle: { color: colour("grid") } },
          axisLabel: { ...text, customValues: places, hideOverlap: true,
            formatter: figure.logarithmic ? plainNumber : show,
            showMinLabel: figure.logarithmic || low === 0, showMaxLabel: figure.logarithmic } },
        series: lines,
      },
    };
  };

  const charts = [];
  const mount = (name, build, tools, figure = data.figures[name]) => {
    const host = document.querySelector(`[data-figure="${name}"]`);
    if (!host || !figure) return;
    const state = { axis: "launch", all: false, far: false };
    const canvas = make("div", { className: "canvas" });
    const picture = host.querySelector("svg");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label",
      [...picture.querySelectorAll("title, desc")].map((e) => e.textContent).join(". "));
    host.append(canvas);
    host.classList.add("live");
    let chart = null, drawn = 0;
    const draw = () => {
      const width = canvas.clientWidth;
      if (!width) return;
      const { height, option } = build(figure, state, width);
      canvas.style.height = `${height}px`;
      const devicePixelRatio = height > 6000 ? 1 : window.devicePixelRatio;
      if (chart) chart.dispose();
      chart = echarts.init(canvas, null, { renderer: "canvas", devicePixelRatio });
      chart.setOption(option);
      drawn = width;
    };
    const bar = host.querySelector(".chart-tools");
    if (tools) tools(figure, state, bar, draw);
    draw();
    new ResizeObserver(() => { if (canvas.clientWidth !== drawn) draw(); }).observe(canvas);
    charts.push(draw);
  };

  const toggle = (bar, label, pressed, act) => {
    const button = make("button", { type: "button", textContent: label });
    button.setAttribute("aria-pressed", String(pressed));
    button.addEventListener("click", () => {
      const now = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(now));
      act(now);
    });
    bar.append(button);
    bar.hidden = false;
  };
  const allRows = (key) => (figure, state, bar, draw) => {
    const few = visible(figure[key]).length, many = Math.min(MOST_ROWS, figure[key].length);
    if (few < figure[key].length) {
      const total = figure[key].length + figure.others;
      const words = many < total ? `Show the best ${many} of ${total.toLocaleString("en-US")}` : `Show all ${many}`;
      toggle(bar, words, false, (on) => {
        state.all = on;
        draw();
      });
    }
  };
  const chosen = (rows, state) => (state.all ? rows.slice(0, MOST_ROWS) : visible(rows));

  const drawAll = () => {
    mount("boxes", (f, s, w) => boxes(f, chosen(f.boxes, s), w, s.far), (figure, state, bar, draw) => {
      allRows("boxes")(figure, state, bar, draw);
      const rows = visible(figure.boxes), [low, high] = boxLimits(rows), every = everyValue(rows);
      if (every[0] < low || every[1] > high) {
        toggle(bar, "Show values outside the axis", false, (on) => { state.far = on; draw(); });
      }
    });
    mount("gain", (f, s, w) => gain(f, chosen(f.gains, s), w), allRows("gains"));
    mount("convergence", convergence, (figure, state, bar, draw) => {
      toggle(bar, "Against time", false, (on) => { state.axis = on ? "time" : "launch"; draw(); });
      const outside = counting(figure.marks).filter((m) => m.value < figure.frame[0] || m.value > figure.frame[1]);
      if (outside.length) {
        toggle(bar, "Show values outside the axis", false, (on) => { state.all = on; draw(); });
      }
    });
    (data.figures.progress || []).forEach((figure, i) => mount(`progress-${i}`, progress,
      (_, state, bar, draw) => {
        toggle(bar, "Against time", false, (on) => { state.axis = on ? "time" : "launch"; draw(); });
        const values = figure.lines.flatMap((l) => [...l.values, ...l.maxima]);
        if (values.some((v) => v < figure.frame[0] || v > figure.frame[1])) {
          toggle(bar, "Show values outside the axis", false, (on) => { state.all = on; draw(); });
        }
      }, figure));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((d) => d()));
  };

  /* ---- files ------------------------------------------------------------------------------ */
  const save = (name, type, content) => {
    const url = URL.createObjectURL(new Blob([content], { type }));
    const link = make("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };
  const fileName = (what, ending) =>
    `assay-${String(data.study).replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, 40)}-${what}.${ending}`;

  /* Spreadsheets read a leading = + - @ as a formula: quote such text. */
  const csvCell = (value) => {
    if (value == null) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const csv = (heads, rows) => [heads, ...rows].map((r) => r.map(csvCell).join(",")).join("\r\n") + "\r\n";

  /* ---- table ------------------------------------------------------------------------------ */
  const COLUMNS = ["name", "phase", "ratio", "ci_low", "ci_high", "verdict", "n", "min", "q1", "median",
    "q3", "max", "mean", "sd", "sem", "timed_out", "failed", "disturbed", "left_out"];
  const setUpTable = () => {
    const table = byId("all");
    if (!table) return;
    /* The page contains this count only where it is not zero. */
    for (const row of data.rows) row.disturbed ||= 0;
    const body = table.tBodies[0], written = [...body.rows];
    const keys = [...table.tHead.rows[0].cells].map((head) => head.dataset.key);
    const texts = [...written.map((row) => [...row.cells].map((cell) => cell.textContent)), ...data.further]
      .map((entries) => ` ${entries.join(" ").toLowerCase().replace(/\s+/g, " ")} `);
    /* The page contains the first rows; others are made when they are shown. */
    const line = (i) => {
      if (!written[i]) {
        const { role, verdict } = data.rows[i];
        written[i] = make("tr", {}, ...data.further[i - data.rows.length + data.further.length].map((entry, at) =>
          make(keys[at] === "name" ? "th" : "td", {
            textContent: entry,
            className: keys[at] === "name" ? `role-${role}`
              : keys[at] === "verdict" && verdict ? `word tone-${verdict}` : keys[at] === "phase" ? "text" : "",
            ...(keys[at] === "name" ? { scope: "row" } : {}),
          })));
        written[i].dataset.row = i;
      }
      return written[i];
    };
    let most = MOST_ROWS;
    const status = byId("table-status");
    let sort = { key: null, down: false };

    const phases = [...new Set(data.rows.map((r) => r.phase))];
    const search = make("input", { type: "search", placeholder: "Filter by any word in a row" });
    search.setAttribute("aria-label", "Filter the table");
    const phase = make("select", {}, make("option", { value: "", textContent: "every phase" }),
      ...phases.map((p) => make("option", { value: p, textContent: p })));
    phase.setAttribute("aria-label", "Phase");

    const kept = () => {
      /* A setting with a value is a whole word, so that n=4 excludes n=40. */
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
        .map((word) => (/=./.test(word) ? ` ${word} ` : word));
      return [...texts.keys()].filter((i) =>
        (!phase.value || data.rows[i].phase === phase.value) && words.every((w) => texts[i].includes(w)));
    };
    const compare = (a, b) => {
      const x = data.rows[a][sort.key], y = data.rows[b][sort.key];
      if (x == null || y == null) return (x == null) - (y == null);
      const order = typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
      return sort.down ? -order : order;
    };
    const shown = () => (sort.key ? kept().sort(compare) : kept());
    const further = make("button", { type: "button", textContent: `Show ${MOST_ROWS} more` });
    const refresh = () => {
      const rows = shown();
      body.replaceChildren(...rows.slice(0, most).map(line));
      const words = counted(texts.length, "row"), matching = rows.length.toLocaleString("en-US");
      status.textContent = rows.length > most
        ? `${most.toLocaleString("en-US")} of ${matching} matching rows shown, of ${words}. `
        : `${matching} of ${words} shown.`;
      if (rows.length > most) status.append(further);
      const part = rows.length < texts.length ? `${matching} of ${words} as ` : "";
      asCsv.textContent = `Save ${part}CSV`;
      asJson.textContent = `Save ${part}JSON`;
    };
    const asCsv = make("button", { type: "button" }), asJson = make("button", { type: "button" });
    const restart = () => { most = MOST_ROWS; refresh(); };
    further.addEventListener("click", () => { most += MOST_ROWS; refresh(); });

    for (const head of table.tHead.rows[0].cells) {
      const span = head.querySelector("span");
      const button = make("button", { type: "button", textContent: span.textContent, title: span.title });
      span.replaceWith(button);
      button.addEventListener("click", () => {
        const key = head.dataset.key;
        if (sort.key !== key) sort = { key, down: false };
        else sort = sort.down ? { key: null, down: false } : { key, down: true };
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        if (sort.key) head.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
        restart();
      });
    }
    const picked = () => shown().map((i) => data.rows[i]);
    /* Files of filtered rows have another name. */
    const pickedName = (ending) => {
      const count = shown().length;
      return fileName(`configurations${count < texts.length ? `-${count}-of-${texts.length}` : ""}`, ending);
    };
    asCsv.addEventListener("click", () => save(pickedName("csv"), "text/csv",
      csv(["configuration", "metric", "unit", ...COLUMNS.slice(1)], picked().map((r) =>
        [r.name, data.metric.name, data.metric.unit, ...COLUMNS.slice(1).map((c) => r[c])]))));
    asJson.addEventListener("click", () => save(pickedName("json"), "application/json",
      JSON.stringify({ schema: 1, study: data.study, metric: data.metric, rows: picked() }, null, 1)));
    const tools = byId("table-tools");
    const many = texts.length > 3;
    tools.append(...(many ? [search] : []), ...(phases.length > 1 ? [phase] : []), asCsv, asJson);
    tools.hidden = false;
    search.addEventListener("input", restart);
    phase.addEventListener("change", restart);
    refresh();
  };

  /* ---- samples and script ----------------------------------------------------------------- */
  const setUpRaw = () => {
    const tools = byId("raw-tools");
    const samples = () => read("assay-samples");
    const asJson = make("button", { type: "button", textContent: "Save samples as JSON" });
    asJson.addEventListener("click", async () => save(fileName("samples", "json"), "application/json",
      JSON.stringify({ schema: 1, study: data.study, samples: await samples() }, null, 1)));
    const asCsv = make("button", { type: "button", textContent: "Save samples as CSV" });
    asCsv.addEventListener("click", async () => {
      const all = await samples();
      const metrics = [...new Set(all.flatMap((s) => Object.keys(s.metrics || {})))].sort();
      const fixed = ["started_at", "arm", "stage", "block", "position", "attempt", "outcome", "left_out"];
      save(fileName("samples", "csv"), "text/csv", csv([...fixed, ...metrics], all.map((s) => [
        s.started_at, s.launch.arm, s.launch.stage, s.launch.block, s.launch.position,
        s.launch.attempt || 0, s.outcome, String(s.left_out), ...metrics.map((m) => (s.metrics || {})[m])])));
    });
    tools.append(asJson, asCsv);
    tools.hidden = false;
  };

  const setUpCopy = () => {
    const place = document.querySelector('[data-copy="script"]');
    if (!place || !data.script || hidden.test(data.script.replace(/[\n\t]/g, ""))) return;
    const button = make("button", { type: "button", textContent: "Copy" });
    const said = make("span", { className: "quiet-status" });
    said.setAttribute("role", "status");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(data.script);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(byId("script-text"));
        button.textContent = document.execCommand("copy") ? "Copied" : "Selected: press Ctrl+C";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2500);
    });
    place.append(button, said);
    place.hidden = false;
  };

  /* Note below a table that is wider than its box. */
  const setUpWide = () => {
    for (const box of document.querySelectorAll(".scroll")) {
      const hint = make("p", { className: "sideways", hidden: true,
        textContent: "There are more columns: scroll sideways." });
      box.after(hint);
      new ResizeObserver(() => { hint.hidden = box.scrollWidth <= box.clientWidth + 1; }).observe(box);
    }
  };

  setUpTable();
  setUpWide();
  setUpRaw();
  setUpCopy();
  drawAll();
})();
