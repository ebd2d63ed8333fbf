<?xml version="1.0" encoding="UTF-8"?>
<!-- server_status.xsl - daemons, queues, volunteers. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:import href="page.xsl"/>
<xsl:template name="title">Status</xsl:template>

<xsl:template name="row">
<xsl:param name="name"/>
<xsl:param name="value"/>
<tr>
<td><xsl:value-of select="$name"/></td>
<td class="number"><xsl:value-of select="$value"/></td>
</tr>
</xsl:template>

<xsl:template name="content">
<h2>Programs</h2>
<table>
<tr><th>Program</th><th>Host</th><th>Status</th></tr>
<xsl:for-each select="/server_status/daemon_status/daemon">
<tr>
<td><xsl:value-of select="command"/></td>
<td><xsl:value-of select="host"/></td>
<td class="{translate(status, ' ', '_')}"><xsl:value-of select="status"/></td>
</tr>
</xsl:for-each>
</table>
<xsl:choose>
<xsl:when test="/server_status/database_file_states">
<xsl:apply-templates select="/server_status/database_file_states"/>
</xsl:when>
<xsl:otherwise>
<p class="notice">The database does not answer.</p>
</xsl:otherwise>
</xsl:choose>
</xsl:template>

<xsl:template match="database_file_states">
<h2>Work</h2>
<table>
<xsl:call-template name="row">
<xsl:with-param name="name">Tasks ready to send</xsl:with-param>
<xsl:with-param name="value" select="results_ready_to_send"/>
</xsl:call-template>
<xsl:call-template name="row">
<xsl:with-param name="name">Tasks in progress</xsl:with-param>
<xsl:with-param name="value" select="results_in_progress"/>
</xsl:call-template>
<xsl:call-template name="row">
<xsl:with-param name="name">Workunits waiting for validation</xsl:with-param>
<xsl:with-param name="value" select="workunits_waiting_for_validation"/>
</xsl:call-template>
<xsl:call-template name="row">
<xsl:with-param name="name">Workunits waiting for assimilation</xsl:with-param>
<xsl:with-param name="value" select="workunits_waiting_for_assimilation"/>
</xsl:call-template>
<xsl:call-template name="row">
<xsl:with-param name="name">Workunits waiting for file deletion</xsl:with-param>
<xsl:with-param name="value" select="workunits_waiting_for_deletion"/>
</xsl:call-template>
<xsl:call-template name="row">
<xsl:with-param name="name">Tasks waiting for file deletion</xsl:with-param>
<xsl:with-param name="value" select="results_waiting_for_deletion"/>
</xsl:call-template>
<xsl:call-template name="row">
<xsl:with-param name="name">Transitioner backlog (hours)</xsl:with-param>
<xsl:with-param name="value" select="format-number(transitioner_backlog_hours, '0.00')"/>
</xsl:call-template>
</table>
<h2>Volunteers and computers</h2>
<table>
<tr><th></th><th>Users</th><th>Computers</th></tr>
<tr><td>with recent credit</td>
<td class="number"><xsl:value-of select="users_with_recent_credit"/></td>
<td class="number"><xsl:value-of select="hosts_with_recent_credit"/></td></tr>
<tr><td>with credit</td>
<td class="number"><xsl:value-of select="users_with_credit"/></td>
<td class="number"><xsl:value-of select="hosts_with_credit"/></td></tr>
<tr><td>registered in the past 24 hours</td>
<td class="number"><xsl:value-of select="users_registered_in_past_24_hours"/></td>
<td class="number"><xsl:value-of select="hosts_registered_in_past_24_hours"/></td></tr>
</table>
<p>
<xsl:text>Speed: </xsl:text>
<xsl:value-of select="format-number(current_floating_point_speed, '0.00')"/>
<xsl:text> GFLOPS</xsl:text>
</p>
<h2>Applications</h2>
<table>
<tr><th>Application</th><th>Unsent</th><th>In progress</th>
<th>Run time (hours): mean, least, most</th><th>Users in the last 24 hours</th></tr>
<xsl:for-each select="tasks_by_app/app">
<tr>
<td><xsl:value-of select="name"/></td>
<td class="number"><xsl:value-of select="unsent"/></td>
<td class="number"><xsl:value-of select="in_progress"/></td>
<td class="number">
<xsl:value-of select="format-number(avg_runtime, '0.00')"/>
<xsl:text>, </xsl:text>
<xsl:value-of select="format-number(min_runtime, '0.00')"/>
<xsl:text>, </xsl:text>
<xsl:value-of select="format-number(max_runtime, '0.00')"/>
</td>
<td class="number"><xsl:value-of select="users"/></td>
</tr>
</xsl:for-each>
</table>
</xsl:template>
</xsl:stylesheet>
