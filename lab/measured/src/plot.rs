//! Plots as SVG.

use std::ops::Range;

use lab::statistics::Estimate;
use plotters::coord::Shift;
use plotters::prelude::*;
use ptx_build::error::{Error, Result};

/// A line of a plot: its name and its points.
pub(super) type Series = (String, Vec<(f64, Estimate)>);

/// What is around a plot.
pub(super) struct Frame<'f> {
    /// Above it.
    pub(super) title: &'f str,
    /// Below it.
    pub(super) x: &'f str,
    /// Beside it.
    pub(super) y: &'f str,
}

const WIDTH: u32 = 860;
const HEIGHT: u32 = 460;
/// Above and below the rows of bars, and of each row.
const AROUND: u32 = 104;
const ROW: u32 = 24;
const FONT: &str = "sans-serif";

/// Colours that are told apart by people who see few colours too.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(150, 110, 0),
    RGBColor(80, 80, 80),
    RGBColor(150, 0, 40),
];

fn failed(error: impl std::fmt::Display) -> Error {
    Error::new(format_args!("could not draw a plot: {error}"))
}

/// The numbers that an axis begins and ends with, a little more than what is on it.
fn range(values: impl Iterator<Item = f64> + Clone, from_zero: bool) -> Range<f64> {
    let least = values.clone().reduce(f64::min).unwrap_or(0.0);
    let most = values.reduce(f64::max).unwrap_or(1.0);
    let least = if from_zero { least.min(0.0) } else { least };
    let room = if most > least { (most - least) * 0.06 } else { most.abs().max(1.0) * 0.1 };
    (if from_zero && least == 0.0 { 0.0 } else { least - room })..most + room
}

/// A number as short as it can be told.
fn short(value: f64) -> String {
    let (value, unit) = match value.abs() {
        large if large >= 1e12 => (value / 1e12, " T"),
        large if large >= 1e9 => (value / 1e9, " G"),
        large if large >= 1e6 => (value / 1e6, " M"),
        large if large >= 1e4 => (value / 1e3, " k"),
        0.0 => (value, ""),
        small if small < 1e-4 => (value * 1e6, " µ"),
        small if small < 1e-2 => (value * 1e3, " m"),
        _ => (value, ""),
    };
    let text = format!("{value:.3}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

fn draw(height: u32, paint: impl FnOnce(&DrawingArea<SVGBackend<'_>, Shift>) -> Result<()>) -> Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        paint(&area)?;
        area.present().map_err(failed)?;
    }
    Ok(text)
}

/// Lines with a bar for each interval. The axis of x is in steps of the same factor if `by_factors`.
pub(super) fn lines(frame: &Frame<'_>, series: &[Series], by_factors: bool) -> Result<String> {
    let points = series.iter().flat_map(|(_, points)| points);
    let to_axis = |x: f64| if by_factors { x.log2() } else { x };
    let xs = range(points.clone().map(|(x, _)| to_axis(*x)), false);
    let ends = points.flat_map(|(_, y)| [y.low, y.high]);
    let (least, most) = (ends.clone().reduce(f64::min), ends.clone().reduce(f64::max));
    // What is far from zero is told apart only without it.
    let ys = range(ends, least.zip(most).is_none_or(|(least, most)| least < most / 2.0));
    draw(HEIGHT, |area| {
        // Names have a column of their own, where they cover no line.
        let (plot, names) = area.split_horizontally(WIDTH - 190);
        let mut chart = ChartBuilder::on(&plot)
            .caption(frame.title, (FONT, 18))
            .margin(12)
            .x_label_area_size(48)
            .y_label_area_size(72)
            .build_cartesian_2d(xs, ys)
            .map_err(failed)?;
        let on_x = |x: &f64| match by_factors {
            true if x.fract() == 0.0 => short(x.exp2()),
            true => String::new(),
            false => short(*x),
        };
        let on_y = |y: &f64| short(*y);
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(frame.x).y_desc(frame.y).axis_desc_style((FONT, 15)).label_style((FONT, 13));
        mesh.x_label_formatter(&on_x).y_label_formatter(&on_y).x_labels(8).light_line_style(TRANSPARENT);
        mesh.draw().map_err(failed)?;
        for (at, (name, points)) in series.iter().enumerate() {
            let colour = COLOURS[at % COLOURS.len()];
            let line = points.iter().map(|(x, y)| (to_axis(*x), y.middle));
            chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(2))).map_err(failed)?;
            chart.draw_series(line.map(|point| Circle::new(point, 3, colour.filled()))).map_err(failed)?;
            let bars = points.iter().map(|(x, y)| {
                PathElement::new(vec![(to_axis(*x), y.low), (to_axis(*x), y.high)], colour.stroke_width(1))
            });
            chart.draw_series(bars).map_err(failed)?;
            let y = 54 + 22 * at as i32;
            names.draw(&Rectangle::new([(4, y + 2), (22, y + 8)], colour.filled())).map_err(failed)?;
            names.draw(&Text::new(name.clone(), (28, y - 2), (FONT, 13))).map_err(failed)?;
        }
        Ok(())
    })
}

/// A bar for each name, with its interval; each row has its own line, so names of any length fit. A line marks what
/// everything is compared with, if something is.
pub(super) fn bars(frame: &Frame<'_>, all: &[(String, Estimate)], mark: Option<f64>) -> Result<String> {
    let ends = all.iter().flat_map(|(_, bar)| [bar.low, bar.high]).chain(mark);
    let xs = range(ends, mark.is_none());
    let count = all.len() as f64;
    draw(AROUND + ROW * all.len() as u32, |area| {
        let mut chart = ChartBuilder::on(area)
            .caption(frame.title, (FONT, 18))
            .margin(12)
            .x_label_area_size(48)
            .y_label_area_size(230)
            .build_cartesian_2d(xs.clone(), 0.0..count)
            .map_err(failed)?;
        let on_x = |x: &f64| short(*x);
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(frame.x).axis_desc_style((FONT, 15)).label_style((FONT, 13));
        mesh.x_label_formatter(&on_x).y_labels(0).disable_y_mesh().light_line_style(TRANSPARENT);
        mesh.draw().map_err(failed)?;
        let (_, rows) = chart.plotting_area().get_pixel_range();
        let (top, height) = (rows.start, rows.end - rows.start);
        for (at, (name, bar)) in all.iter().enumerate() {
            let row = count - at as f64;
            let colour = COLOURS[0];
            let from = mark.unwrap_or(xs.start);
            let body = Rectangle::new([(from, row - 0.8), (bar.middle, row - 0.2)], colour.mix(0.55).filled());
            chart.draw_series([body]).map_err(failed)?;
            let interval = PathElement::new(vec![(bar.low, row - 0.5), (bar.high, row - 0.5)], BLACK.stroke_width(2));
            chart.draw_series([interval]).map_err(failed)?;
            let y = top + ((at as f64 + 0.5) / count * f64::from(height)) as i32;
            area.draw(&Text::new(name.clone(), (16, y - 4), (FONT, 13))).map_err(failed)?;
        }
        if let Some(mark) = mark {
            let line = PathElement::new(vec![(mark, 0.0), (mark, count)], COLOURS[1].stroke_width(2));
            chart.draw_series([line]).map_err(failed)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        let all = [4.3e12, 1.5e9, 2.0e6, 62_500.0, 1200.0, 0.25, 0.0012, 0.0002, 0.000_06, 0.0].map(short);
        assert_eq!(all, ["4.3 T", "1.5 G", "2 M", "62.5 k", "1200", "0.25", "1.2 m", "0.2 m", "60 µ", "0"]);
    }

    #[test]
    fn an_axis_has_room_around_what_is_on_it() {
        assert_eq!(range([1.0, 2.0].into_iter(), true), 0.0..2.12);
        assert_eq!(range([1.0, 1.0].into_iter(), false), 0.9..1.1);
        assert_eq!(range([-1.0, 1.0].into_iter(), true), -1.12..1.12);
    }
}
